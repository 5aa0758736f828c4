/* SPDX-License-Identifier: 0BSD OR MIT */
/* A client of <cpucycles/inline.h>: both C99 and C++11. Prints its results, and whether they
   came by an instruction or by a call; exits with 0 if the count is the library's. */

#include <cpucycles/inline.h>

#include <stdio.h>

/* Do inline reads and calls form one increasing count? */
static int agree(long reads)
{
  long long last = cpucycles_inline(), now;
  int decreases = 0;

  while (reads-- > 0) {
    now = cpucycles();
    decreases += now < last;
    last = cpucycles_inline_begin();
    decreases += last < now;
    now = cpucycles_inline_end();
    decreases += now < last;
    last = cpucycles_inline();
    decreases += last < now;
  }
  return decreases == 0;
}

int main(void)
{
  unsigned int before = cpucycles_inline_state.method;
  long long begin = cpucycles_inline(), end;
  long tries = 0;

  do
    end = cpucycles_inline();
  while (end == begin && ++tries < 100000000);
  printf("%s %s %s\n", cpucycles_version(), cpucycles_implementation(),
    cpucycles_inline_state.method == CPUCYCLES_INLINE_CALL ? "call" : "instruction");
  return before != CPUCYCLES_INLINE_CALL || end <= begin || !agree(1000)
    || cpucycles_inline_overhead() < 0;
}
