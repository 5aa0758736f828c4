/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the library installs when it is loaded: a fork handler, and keys for the ends of threads. */

#ifndef CPUCYCLES_LIB_EARLY_H
#define CPUCYCLES_LIB_EARLY_H

#pragma GCC visibility push(hidden)

/* Lets forked children call child() from now on. There is one such function. */
void cpuc_early_on_fork(void (*child)(void));

/* Lets the calling thread call leave() when it exits, or unloads the library. There is one such
   function. Returns 0 or an errno. */
int cpuc_early_on_exit(void (*leave)(void));

/* A list of this thread's memory from malloc(3), which is freed when the thread exits, or unloads
   the library: each block begins with a pointer to the next one. Without a key, or on Windows, the
   list stays empty. */
void *cpuc_early_memory(void);
void cpuc_early_store_memory(void *first);

#pragma GCC visibility pop

#endif
