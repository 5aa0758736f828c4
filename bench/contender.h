/* SPDX-License-Identifier: 0BSD OR MIT */
/* The interface of contenders. Each file contend-NAME.c or .cc becomes a module that the benchmark
   loads, so that the libraries of a contender are not linked into other contenders, and the memory
   of these libraries can be measured. bench/contenders.sh builds the modules and reports those that
   cannot be built here. */

#ifndef BENCH_CONTENDER_H
#define BENCH_CONTENDER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Contenders are compared with the first one of their kind, in the order of the modules. */
enum bench_kind {
  BENCH_READ,   /* one read */
  BENCH_FENCED, /* the beginning and the end of an empty section: two reads with fences */
  BENCH_POINTER  /* one read through a pointer, with a multiplication or without */
};

struct bench_contender {
  const char *name; /* 0: the end of the list */
  const char *unit; /* of a count */
  enum bench_kind kind;
  /* Initializes the contender's library, or checks that it can be used. Returns 0, or the reason
     why it cannot be used here. The member is 0 if the library needs no initialization and no
     check. */
  const char *(*prepare)(void);
  void (*run)(long reads); /* makes this number of reads; BENCH_FENCED: of sections */
  void (*sample)(long long *values, int count); /* stores adjacent reads; count is even */
};

/* Exported by each module. */
extern const struct bench_contender bench_contenders[];

#ifdef __cplusplus
}
#endif

/* Reads are stored here, so that compilers cannot remove them. */
static volatile long long bench_sink;

/* These two macros define run_ID() and sample_ID() for one read, or for a section with a begin and
   an end. The expressions are inlined in the loops. */
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
