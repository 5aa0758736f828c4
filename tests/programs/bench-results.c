/* SPDX-License-Identifier: 0BSD OR MIT */
/* bench-results: prints results as a program that keeps them in a file does, one in a line: of the
   names given as arguments, then of a child that it forks. */

#include "config.h"

#include "include/cpucycles/bench.h"

#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned int hash;

static void work(void *unused)
{
  unsigned int i;

  (void)unused;
  for (i = 0; i < 1000; i++)
    hash = (hash ^ i) * 16777619;
}

int main(int count, char **names)
{
  struct cpucycles_bench_result result;
  pid_t child;
  int i, status = 0;

  for (i = 1; i < count; i++) {
    cpucycles_bench(&result, work, NULL);
    cpucycles_bench_print_json(stdout, names[i], &result);
  }
  fflush(stdout);
  child = fork();
  if (child == 0) {
    cpucycles_bench(&result, work, NULL);
    cpucycles_bench_print_json(stdout, "child", &result);
    return fclose(stdout) == 0 ? 0 : 1;
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
