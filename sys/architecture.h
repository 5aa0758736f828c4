/* SPDX-License-Identifier: 0BSD OR MIT */
/* The name of the architecture. */

#ifndef CPUCYCLES_ARCHITECTURE_H
#define CPUCYCLES_ARCHITECTURE_H

#pragma GCC visibility push(hidden)

/* Stores the name of the architecture in uname(2), such as "x86_64", or an empty text on systems
   without uname(). Under an emulator it is the emulated architecture. */
void cpuc_architecture_name(char *name, int size);

#pragma GCC visibility pop

#endif
