/* SPDX-License-Identifier: 0BSD OR MIT */
/* The key for the ends of threads, which the library creates when it is loaded. */

#ifndef CPUCYCLES_LIB_EARLY_H
#define CPUCYCLES_LIB_EARLY_H

#pragma GCC visibility push(hidden)

/* Lets the calling thread call leave() when it exits, or unloads the library. There is one such
   function. Returns 0 or an errno. Exists where there are perf events. */
int cpuc_early_on_exit(void (*leave)(void));

#pragma GCC visibility pop

#endif
