/* SPDX-License-Identifier: 0BSD OR MIT */
/* Thread-local variables that are cheap in a shared library, and safe in signal handlers. */

#ifndef CPUCYCLES_THREAD_LOCAL_H
#define CPUCYCLES_THREAD_LOCAL_H

#include <stdint.h> /* defines __GLIBC__ with glibc */

/* Use this macro for thread-local variables of the code that reads a counter, and of functions that
   signal handlers may call. In a shared library, the default model calls a function for each
   access, which takes longer than the whole read of a counter. If dlopen() has loaded the library,
   glibc allocates memory in the first of these calls in a thread, so a signal handler that has
   interrupted malloc() would wait forever. The initial-exec model calls no function.

   By default, glibc reserves 512 bytes for initial-exec variables of all libraries that dlopen()
   loads (tunable glibc.rtld.optional_static_tls), and does not load a library whose variables need
   more than is left. So each library may have at most 256 bytes, which tests/scripts/symbols.sh
   checks. On x86-64, libcpucycles has about 200 bytes and libperfex 104.

   musl reserves no bytes for initial-exec variables, and its dlopen() would not load a library that
   has them. But musl allocates when a thread starts and in dlopen(), so its default model is safe
   in handlers. */
#ifdef __GLIBC__
#define CPUC_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#else
#define CPUC_THREAD_LOCAL _Thread_local
#endif

#endif
