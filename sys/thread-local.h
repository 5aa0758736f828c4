/* SPDX-License-Identifier: 0BSD OR MIT */
/* Thread-local variables that are cheap to access in a shared library. */

#ifndef CPUCYCLES_THREAD_LOCAL_H
#define CPUCYCLES_THREAD_LOCAL_H

#include <stdint.h> /* defines __GLIBC__ with glibc */

/* In a shared library, the default TLS model calls a function for each access, which costs more
   than the whole read of a counter. The initial-exec model calls none. In glibc, libraries that are
   loaded by dlopen() share a limited space for this model, and this library needs little of it;
   musl has no such space. */
#ifdef __GLIBC__
#define CPUCYCLES_TLS _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define CPUCYCLES_TLS _Thread_local
#endif

#endif
