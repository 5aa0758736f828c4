/* SPDX-License-Identifier: 0BSD OR MIT */
/* Environment variables, which are ignored in programs with more rights than their user. */

#ifndef CPUCYCLES_ENVIRONMENT_H
#define CPUCYCLES_ENVIRONMENT_H

#pragma GCC visibility push(hidden)

/* Returns the value of an environment variable, or NULL if it is not set. Returns NULL if the
   program, for example a set-user-ID program, runs with more rights than its user, from whom the
   environment comes. */
const char *cpuc_environment(const char *name);

#pragma GCC visibility pop

#endif
