/* SPDX-License-Identifier: 0BSD OR MIT */
/* A client written for the public-domain libcpucycles, valid both as GNU C89 and as C++98. Prints
   the version and the counter. With STAND_IN, a stand-in for that library: its five symbols and no
   others, without symbol versions. Clients are linked with the stand-in, and run with libcpucycles.
   The declarations are written from the documentation of that library. */

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

extern long long (*cpucycles)(void);
extern const char *cpucycles_implementation(void);
extern const char *cpucycles_version(void);
extern long long cpucycles_persecond(void);
extern void cpucycles_tracesetup(void);

#ifdef __cplusplus
}
#endif

#ifdef STAND_IN

static long long count(void)
{
  static long long calls;

  return ++calls;
}

long long (*cpucycles)(void) = count;

const char *cpucycles_implementation(void)
{
  return "stand-in";
}

const char *cpucycles_version(void)
{
  return "0";
}

long long cpucycles_persecond(void)
{
  return 1000;
}

void cpucycles_tracesetup(void)
{
}

#else

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

#endif
