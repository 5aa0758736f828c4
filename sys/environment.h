/* SPDX-License-Identifier: 0BSD OR MIT */
/* Environment variables, which programs with more rights than their user ignore. */

#ifndef CPUCYCLES_ENVIRONMENT_H
#define CPUCYCLES_ENVIRONMENT_H

#pragma GCC visibility push(hidden)

/* The value of an environment variable; NULL in set-user-ID and set-group-ID programs, whose
   environment comes from a user without the program's rights. */
const char *cpuc_environment(const char *name);

#pragma GCC visibility pop

#endif
