/* SPDX-License-Identifier: 0BSD OR MIT */
/* counters: prints the version, whether there is a core frequency, and the name, state and reason
   of each counter. */

#include <cpucycles.h>
#include <stdio.h>

int main(void)
{
  const struct cpucycles_counter_info *counter;
  int i;

  printf("%s %d\n", cpucycles_version(), cpucycles_core_persecond() > 0);
  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    printf("%s %d %s\n", counter->name, counter->state, counter->reason ? counter->reason : "-");
  return 0;
}
