/* SPDX-License-Identifier: 0BSD OR MIT */
/* What a contender of the benchmark is. Each file contend-NAME.c or .cc is a module of its own,
   which the benchmark loads: so what it needs is not linked into the others, and what it adds
   can be measured. A module that cannot be built here is left out, aloud (bench/contenders.sh). */

#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#ifdef __cplusplus
extern "C" {
#endif

/* What contenders are compared with: the first row of their own kind, in the order of the
   modules. */
enum bench_kind {
  BENCH_READ,   /* one read */
  BENCH_FENCED, /* the beginning and the end of an empty section: two reads with fences */
  BENCH_SCALED  /* one read by a pointer, with a multiplication or without */
};

struct bench_contender {
  const char *name; /* 0: the end of the list */
  const char *unit; /* of a count */
  enum bench_kind kind;
  /* What a program must have done before its first read. Returns 0, or why it cannot be read
     here. A null pointer: nothing. */
  const char *(*prepare)(void);
  void (*run)(long reads);
  void (*sample)(long long *values, int count); /* reads, one after the other; count is even */
};

/* What a module exports. */
extern const struct bench_contender bench_contenders[];

#ifdef __cplusplus
}
#endif

/* Where what was read goes, so that no compiler leaves a read out. */
static volatile long long bench_sink;

/* run_ID and sample_ID of what an expression reads, for each the loop around the expression
   itself. */
#define BENCH_READS(id, expression) \
  static void run_##id(long reads) \
  { \
    while (reads-- > 0) \
      bench_sink = (long long)(expression); \
  } \
  static void sample_##id(long long *values, int count) \
  { \
    for (int i = 0; i < count; i++) \
      values[i] = (long long)(expression); \
  }

#define BENCH_SECTIONS(id, begin, end) \
  static void run_##id(long reads) \
  { \
    while (reads-- > 0) { \
      bench_sink = (long long)(begin); \
      bench_sink = (long long)(end); \
    } \
  } \
  static void sample_##id(long long *values, int count) \
  { \
    for (int i = 0; i < count; i += 2) { \
      values[i] = (long long)(begin); \
      values[i + 1] = (long long)(end); \
    } \
  }

#endif
