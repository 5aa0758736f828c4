/* SPDX-License-Identifier: 0BSD OR MIT */
/* Variables that each thread has for itself. */

#ifndef CPUCYCLES_TLS_H
#define CPUCYCLES_TLS_H

#include <stdint.h> /* defines __GLIBC__, where that is the C library */

/* The call that finds a thread-local variable in a shared library costs more than the whole
   read. Libraries that are loaded late share a limited room for the quick way, of which this
   takes little; musl has none. */
#ifdef __GLIBC__
#define CPUCYCLES_TLS _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define CPUCYCLES_TLS _Thread_local
#endif

#endif
