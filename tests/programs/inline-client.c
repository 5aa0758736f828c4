/* SPDX-License-Identifier: 0BSD OR MIT */
/* A part of a client of <cpucycles/inline.h>. It is compiled as each language and with each level
   of optimization, each time with another name for the function PART. PART returns what is wrong,
   or 0. */

#include <cpucycles/inline.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How often the hook in inline-main.c has been called at the beginning of a function that was
   compiled with -finstrument-functions. */
extern long hook_calls;

extern const char *PART(void);

#ifdef __cplusplus
}
#endif

/* Functions for another model of the CPU than the rest of the program, so GCC does not inline
   functions for the program's model into them. */
#if defined(__x86_64__) || defined(__i386__)
#define FOR_ANOTHER_MODEL __attribute__((target("arch=core2")))
#define WITHOUT_FLOATING_POINT __attribute__((target("general-regs-only")))
#elif defined(__aarch64__) && (!defined(__clang__) || __clang_major__ >= 16) /* not in clang 14 */
#define FOR_ANOTHER_MODEL __attribute__((target("arch=armv8-a")))
#define WITHOUT_FLOATING_POINT __attribute__((target("general-regs-only")))
#else
#define FOR_ANOTHER_MODEL
#define WITHOUT_FLOATING_POINT
#endif

#define FUNCTIONS(attribute, name) \
  attribute static long long read_##name(void) \
  { \
    cpucycles_inline_fence(); \
    return cpucycles_inline(); \
  } \
  attribute static long long time_##name(void) \
  { \
    long long begin = cpucycles_inline_section_begin(); \
    long long section = cpucycles_inline_section_end() - begin; \
\
    return cpucycles_inline_section_overhead() < 0 ? -1 : section; \
  }
FUNCTIONS(FOR_ANOTHER_MODEL, for_another_model)
FUNCTIONS(WITHOUT_FLOATING_POINT, without_floating_point)

enum { READS = 11 };

/* Makes every kind of read. A function whose address is taken is called in the library. */
static void make_every_read(long long *counts)
{
  long long (*volatile call)(void) = cpucycles_inline;
  long long (*volatile begin)(void) = cpucycles_inline_section_begin;
  long long (*volatile end)(void) = cpucycles_inline_section_end;
  void (*volatile fence)(void) = cpucycles_inline_fence;

  fence();
  counts[0] = cpucycles();
  counts[1] = cpucycles_inline();
  counts[2] = cpucycles_inline_section_begin();
  counts[3] = cpucycles_inline_section_end();
  counts[4] = call();
  counts[5] = begin();
  counts[6] = end();
  counts[7] = cpucycles_section_begin();
  counts[8] = cpucycles_section_end();
  counts[9] = read_for_another_model();
  counts[10] = read_without_floating_point();
}

/* Do all kinds of reads form one increasing count? */
static int agree(long rounds)
{
  long long counts[READS], last = cpucycles_inline();
  int i, decreases = 0;

  while (rounds-- > 0) {
    make_every_read(counts);
    for (i = 0; i < READS; i++) {
      decreases += counts[i] < last;
      last = counts[i];
    }
  }
  return decreases == 0;
}

static int calls_hooks(void)
{
  long before = hook_calls;

  cpucycles_inline_fence();
  (void)cpucycles_inline();
  (void)cpucycles_inline_section_begin();
  (void)cpucycles_inline_section_end();
  (void)cpucycles_inline_section_overhead();
  return hook_calls != before;
}

const char *PART(void)
{
#ifdef INSTRUMENTED
  if (hook_calls == 0)
    return "the hooks of -finstrument-functions are not called";
#endif
  if (!agree(1000))
    return "the count decreases";
  if (calls_hooks())
    return "a read calls hooks";
  if (cpucycles_inline_section_overhead() < 0)
    return "the overhead is negative";
  if (time_for_another_model() < 0 || time_without_floating_point() < 0)
    return "a section is negative";
  return 0;
}
