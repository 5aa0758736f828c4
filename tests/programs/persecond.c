/* SPDX-License-Identifier: 0BSD OR MIT */
/* persecond: makes the first call, and then every other call that may open something, whose files
   opened-files.sh checks. Prints "PERSECOND SOURCE", then the names and settings that were ignored,
   if any. "set-id " precedes this output if the program runs set-user-ID or set-group-ID. The
   program contains the library, because a set-user-ID program would not find the shared library in
   the build directory. */

#include "config.h"

#include "include/cpucycles.h"

#include <stdio.h>
#include <unistd.h>

int main(void)
{
  const char *ignored, *names;
  int i;

  (void)cpucycles();
  ignored = cpucycles_frequency_ignored();
  names = cpucycles_implementation_ignored();
  (void)cpucycles_section_overhead();
  (void)cpucycles_timer();
  (void)cpucycles_rate();
  (void)cpucycles_core_persecond();
  for (i = 0; cpucycles_counter(i) != NULL; i++)
    ;
  if (getuid() != geteuid() || getgid() != getegid())
    printf("set-id ");
  printf("%lld %s%s%s%s%s\n", cpucycles_persecond(), cpucycles_frequency_source(),
    names ? "; names: " : "",
    names ? names : "", ignored ? "; ignored: " : "", ignored ? ignored : "");
  return fclose(stdout) == 0 ? 0 : 1;
}
