/* SPDX-License-Identifier: 0BSD OR MIT */
/* Makes the first call, and then every other call that may open something. opened-files.sh checks
   the opened files. */

#include "include/cpucycles.h"

#include <stddef.h>

int main(void)
{
  int i;

  cpucycles();
  cpucycles_persecond();
  cpucycles_frequency_source();
  cpucycles_section_overhead();
  cpucycles_timer();
  cpucycles_rate();
  cpucycles_core_persecond();
  for (i = 0; cpucycles_counter(i) != NULL; i++)
    ;
  return 0;
}
