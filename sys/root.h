/* SPDX-License-Identifier: 0BSD OR MIT */
/* The root of the file system. */

#ifndef CPUCYCLES_ROOT_H
#define CPUCYCLES_ROOT_H

#pragma GCC visibility push(hidden)

/* Returns the root directory for the functions of file.h: "". A test that simulates a
   machine defines this function itself, so that the linker leaves root.c out. */
const char *cpuc_root(void);

#pragma GCC visibility pop

#endif
