/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs the parts of a client of <cpucycles/inline.h>, which parts.h lists. Prints the library's
   version, the counter, and whether an instruction or a call reads it. */

#define _GNU_SOURCE /* sched_setaffinity() */

/* Names that public programs define themselves, such as Kyber's reference code. */
#define CPUCYCLES_H

#include <cpucycles/inline.h>

#include "tests/suites/one-cpu.h"

#include <stdio.h>

#define PART(name) extern const char *name(void);
#include "parts.h"
#undef PART

static const struct {
  const char *name;
  const char *(*run)(void);
} parts[] = {
#define PART(name) { #name, name },
#include "parts.h"
#undef PART
};

extern long hook_calls;
extern void __cyg_profile_func_enter(void *function, void *caller);
extern void __cyg_profile_func_exit(void *function, void *caller);

long hook_calls;

void __cyg_profile_func_enter(void *function, void *caller)
{
  (void)function;
  (void)caller;
  hook_calls++;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
  (void)function;
  (void)caller;
}

static int own_calls;

/* Functions of public programs, with other meanings. The library must neither define nor call
   them. */
#define OWN(name) \
  extern long long name(void); \
  long long name(void) { return ++own_calls; }
OWN(cpucycles_overhead)
OWN(cpucycles_begin)
OWN(cpucycles_end)
OWN(cpucycles_start)
OWN(cpucycles_stop)

static int advances(void)
{
  long long begin = cpucycles_inline();
  long tries = 0;

  while (cpucycles_inline() == begin && ++tries < 100000000)
    ;
  return cpucycles_inline() > begin;
}

int main(void)
{
  /* before the first call, the state says that reads are calls */
  int i, wrong = cpucycles_inline_state.method != CPUCYCLES_INLINE_CALL;

  (void)stay_on_this_cpu();
  wrong |= !advances();
  printf("%s %s %s", cpucycles_version(), cpucycles_implementation(),
    cpucycles_inline_state.method == CPUCYCLES_INLINE_CALL ? "call" : "instruction");
  for (i = 0; i < (int)(sizeof parts / sizeof parts[0]); i++) {
    const char *what = parts[i].run();

    if (what)
      printf("; %s: %s", parts[i].name, what);
    wrong |= what != NULL;
  }
  printf("\n");
  return wrong || cpucycles_section_overhead() < 0 || own_calls != 0;
}
