/* SPDX-License-Identifier: 0BSD OR MIT */
/* Environment variables, which are ignored in programs with more rights than their user. */

#ifndef CPUCYCLES_ENVIRONMENT_H
#define CPUCYCLES_ENVIRONMENT_H

#pragma GCC visibility push(hidden)

/* Returns the value of an environment variable, or NULL if it is not set. Always returns NULL in
   set-user-ID and set-group-ID programs, because their environment comes from a user without the
   rights of the program. */
const char *cpuc_environment(const char *name);

#pragma GCC visibility pop

#endif
