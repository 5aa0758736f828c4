/* SPDX-License-Identifier: 0BSD OR MIT */
/* Makes the first call and no other. first-call.sh checks its system calls. */

#include "include/cpucycles.h"

int main(void)
{
  cpucycles();
  return 0;
}
