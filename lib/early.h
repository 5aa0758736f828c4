/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the library installs when it is loaded: a fork handler, and a key for the ends of threads.
   */

#ifndef CPUCYCLES_LIB_EARLY_H
#define CPUCYCLES_LIB_EARLY_H

#pragma GCC visibility push(hidden)

/* Lets forked children call child() from now on. There is one such function. */
void cpuc_early_on_fork(void (*child)(void));

/* Lets the calling thread call leave() when it exits, or unloads the library. There is one such
   function. Returns 0 or an errno. Exists where there are perf events. */
int cpuc_early_on_exit(void (*leave)(void));

#pragma GCC visibility pop

#endif
