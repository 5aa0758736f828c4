/* SPDX-License-Identifier: 0BSD OR MIT */
/* A client written for the public-domain library, valid both as GNU C89 and as C++98. Prints the
   version and the counter. */

#include "dropin.h"

#include <stdio.h>

int main(void)
{
  long long begin = cpucycles(), end;
  long tries = 0;

  do
    end = cpucycles();
  while (end == begin && ++tries < 100000000);
  printf("%s %s\n", cpucycles_version(), cpucycles_implementation());
  return end <= begin || cpucycles_persecond() < 1000;
}
