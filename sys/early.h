/* SPDX-License-Identifier: 0BSD OR MIT */
/* The first and the last function of a library. The first runs when the library is loaded, because
   fork handlers cannot be added while a fork runs them, and because the C library has room in each
   thread only for the values of the first keys: the value of a later key needs an allocation.
   Priority 101 puts both outside of the program's own constructors and destructors, which may read
   a counter or fork; without it, those of a statically linked program would run first and last.
   Darwin has no priorities. */

#ifndef CPUCYCLES_EARLY_H
#define CPUCYCLES_EARLY_H

#ifdef __APPLE__
#define CPUC_EARLY_LOAD __attribute__((constructor))
#define CPUC_EARLY_UNLOAD __attribute__((destructor))
#else
#define CPUC_EARLY_LOAD __attribute__((constructor(101)))
#define CPUC_EARLY_UNLOAD __attribute__((destructor(101)))
#endif

#endif
