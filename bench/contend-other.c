/* SPDX-License-Identifier: 0BSD OR MIT */
/* Another libcpucycles: the shared library that the environment variable BENCH_OTHER names, such as
   the public-domain libcpucycles or an earlier release of this one. */

#define _GNU_SOURCE 1

#include "bench/contender.h"

#include <dlfcn.h>
#include <stdlib.h>

static long long (**other_cpucycles)(void);

/* A constructor loads the library before the first use is timed, because the libraries of the other
   contenders are loaded with their modules, and thus before their first use. */
__attribute__((constructor)) static void load(void)
{
  const char *path = getenv("BENCH_OTHER");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : 0;

  other_cpucycles = library ? (long long (**)(void))dlsym(library, "cpucycles") : 0;
}

static const char *prepare(void)
{
  return other_cpucycles ? 0 : "BENCH_OTHER is not the path of a libcpucycles.so.1";
}

BENCH_READS(call, (*other_cpucycles)())

const struct bench_contender bench_contenders[] = {
  { "cpucycles() of BENCH_OTHER", "cycles", BENCH_READ, prepare, run_call, sample_call },
  { 0, 0, BENCH_READ, 0, 0, 0 },
};
