/* SPDX-License-Identifier: 0BSD OR MIT */
/* persecond: prints "PERSECOND SOURCE", then the names and settings that were ignored, if any.
   "set-id " precedes all of it if the program runs set-user-ID or set-group-ID. Linked so that it
   finds the library in such a program too. */

#include "config.h"

#include "include/cpucycles.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
  const char *ignored = cpucycles_frequency_ignored(), *names = cpucycles_implementation_ignored();

  if (getuid() != geteuid() || getgid() != getegid())
    printf("set-id ");
  printf("%lld %s%s%s%s%s\n", cpucycles_persecond(), cpucycles_frequency_source(),
    names ? "; names: " : "",
    names ? names : "", ignored ? "; ignored: " : "", ignored ? ignored : "");
  return fclose(stdout) == 0 ? 0 : 1;
}
