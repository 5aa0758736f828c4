/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads environment variables, except in programs with more rights than their user. */

#include "config.h"

#include "sys/environment.h"

#include <stdlib.h>
#include <unistd.h>

const char *cpuc_environment(const char *name)
{
#ifdef HAVE_SECURE_GETENV
  return secure_getenv(name);
#else
#ifdef HAVE_ISSETUGID
  if (issetugid())
    return NULL;
#elif defined(CPUCYCLES_POSIX)
  if (getuid() != geteuid() || getgid() != getegid())
    return NULL;
#endif
  return getenv(name);
#endif
}
