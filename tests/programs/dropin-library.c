/* SPDX-License-Identifier: 0BSD OR MIT */
/* A stand-in for the public-domain library: its five symbols and no others, without symbol
   versions. Clients are linked with the stand-in, and run with libcpucycles. */

#include "dropin.h"

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
