/* SPDX-License-Identifier: 0BSD OR MIT */
/* The interface of the public-domain libcpucycles in its clients: five symbols. This file is
   written from the documentation of that library, and replaces the library's header in tests. */

#ifndef DROPIN_H
#define DROPIN_H

#ifdef __cplusplus
extern "C" {
#endif

extern long long (*cpucycles)(void);
extern const char *cpucycles_implementation(void);
extern const char *cpucycles_version(void);
extern long long cpucycles_persecond(void);
extern void cpucycles_tracesetup(void);

#ifdef __cplusplus
}
#endif

#endif
