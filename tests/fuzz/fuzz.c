/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fuzzes every parser of frequencies and rates: texts of files and of the environment, cells of
   device trees, the perf page, CPUID. No answer is outside 1 kHz..1 THz, and the sanitizers find
   nothing. Also fuzzes the list of counters in the environment, and the cost files of libperfex.
   The first byte selects the parser. For libFuzzer: make check-fuzz. */

#include "config.h"

#include "lib/frequency.h"

#include "backends/common/cpuinfo.h"
#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/request.h"
#include "perfex/cost.h"
#include "sys/architecture.h"
#include "sys/cpuid.h"
#include "sys/parse.h"

#include "tests/suites/cpuid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_PERF_EVENTS
#include <linux/perf_event.h>
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts if the condition does not hold. */
#define FUZZ_EXPECT(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

static void check(long long hz)
{
  FUZZ_EXPECT(hz == 0 || (hz >= CPUC_RATE_LOWEST && hz <= CPUC_RATE_HIGHEST));
}

/* The architectures whose lines are accepted. */
static unsigned int architectures;

enum cpuc_architecture cpuc_architecture(void)
{
  return (enum cpuc_architecture)architectures;
}

static struct cpuc_frequency_cpuinfo try_cpuinfo(const char *bytes, size_t size, size_t piece)
{
  struct cpuc_frequency_cpuinfo cpuinfo = { 0 };
  struct cpuc_file_line line;
  const char *end = bytes + size, *piece_end, *rest;
  unsigned int roles;

  cpuc_file_line_begin(&line);
  for (; bytes < end; bytes = piece_end) {
    piece_end = (size_t)(end - bytes) < piece ? end : bytes + piece;
    for (rest = bytes; (rest = cpuc_file_line_add(&line, rest, piece_end)) != NULL;) {
      check(cpuc_cpuinfo_parse(line.text, &roles));
      cpuc_frequency_cpuinfo_add(&cpuinfo, &line);
    }
  }
  check(cpuinfo.constant_hz);
  check(cpuinfo.maybe_current_hz);
  return cpuinfo;
}

/* Cutting the file into pieces must change nothing. */
static void try_cpuinfos(const char *bytes, size_t size)
{
  struct cpuc_frequency_cpuinfo whole, cut;

  for (architectures = 1; architectures < 512; architectures *= 2) {
    whole = try_cpuinfo(bytes, size, 2048);
    cut = try_cpuinfo(bytes, size, 7);
    FUZZ_EXPECT(cut.constant_hz == whole.constant_hz);
    FUZZ_EXPECT(cut.maybe_current_hz == whole.maybe_current_hz);
  }
}

/* Returns a string in memory of exactly its size, so that AddressSanitizer sees overreads. */
static char *make_string(const char *bytes, size_t size)
{
  char *text = malloc(size + 1);

  memcpy(text, bytes, size);
  text[size] = 0;
  return text;
}

static void try_number(const char *bytes, size_t size)
{
  static const long long units[] = { 1, 1000, 1000000 };
  char *text = make_string(bytes, size);
  const char *rest;
  int i, first, last;

  for (i = 0; i < 3; i++) {
    long long number = cpuc_parse_number(text, units[i]);

    FUZZ_EXPECT(number >= -1 && number <= CPUC_PARSE_DECIMAL_LIMIT + units[i]);
    FUZZ_EXPECT(cpuc_parse_number_line(text, units[i]) == (strchr(text, '\n') ? number : -1));
  }
  for (rest = text; (rest = cpuc_parse_next_cpu_range(rest, &first, &last)) != NULL;)
    FUZZ_EXPECT(rest <= text + strlen(text) && first >= 0 && last >= 0);
  rest = cpuc_parse_integer(text, &first);
  FUZZ_EXPECT(!rest || (rest > text && first >= 0 && first <= 1000000));
  free(text);
}

/* Device trees contain frequencies of CPUs and rates of counters. */
static void try_cells(const char *bytes, size_t size)
{
  check(cpuc_rate_from_dt_cells(bytes, (int)size));
}

#if defined(__x86_64__) || defined(__i386__)

static void try_page(const char *bytes, size_t size)
{
#ifdef HAVE_PERF_EVENTS
  static struct perf_event_mmap_page page;

  memset(&page, 0, sizeof page);
  memcpy(&page, bytes, size < sizeof page ? size : sizeof page);
  check(cpuc_tsc_rate_from_page(&page));
#endif
  (void)bytes, (void)size;
}

static void try_leaves(const char *bytes, size_t size)
{
  static const unsigned int numbers[] = { 0, 1, 0x15, 0x16, 0x40000000, 0x40000010, 0x80000000,
    0x80000002, 0x80000003, 0x80000004, 0x80000007 };
  size_t i;

  for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    cpu[i].number = numbers[i];
    memset(&cpu[i].leaf, 0, sizeof cpu[i].leaf);
    if ((i + 1) * 16 <= size)
      memcpy(&cpu[i].leaf, bytes + i * 16, 16);
  }
  check(tsc_rate_without_kernel().hz);
}

#endif

/* In place of lib/candidate.c. */
void cpuc_candidate_explain(struct cpuc_candidate *candidate)
{
  (void)candidate;
}

/* The list in CPUCYCLES_IMPLEMENTATION: the report about it fits and is printable. */
static void try_request(const char *bytes, size_t size)
{
  static struct cpuc_candidate candidates[] = {
    { .info = { .name = "works" } },
    { .info = { .name = "does-not", .reason = "refused" } },
  };
  char unusable[320], *list = make_string(bytes, size);
  size_t i, length;

  memset(unusable, 'x', sizeof unusable);
  cpuc_request_describe_unusable(list, candidates, 2, unusable, (int)sizeof unusable);
  length = strnlen(unusable, sizeof unusable);
  FUZZ_EXPECT(length < sizeof unusable && (length == 0 || list[strspn(list, ", \t\r\n")]));
  for (i = 0; i < length; i++)
    FUZZ_EXPECT(unusable[i] >= ' ' && unusable[i] <= '~');
  FUZZ_EXPECT(!cpuc_request_includes(list, "works") || strstr(list, "works"));
  free(list);
}

#ifdef HAVE_PERFEX

/* Accepted costs are in range and in order, and a refused file has a line and a mistake. */
static void try_costs(const char *bytes, size_t size)
{
  struct pfx_costs costs;
  const char *mistake = NULL;
  char *text = make_string(bytes, size);
  int line, lines = 1, i;
  size_t at;

  for (at = 0; at < size; at++)
    lines += text[at] == '\n';
  line = pfx_cost_file_parse(text, size, &costs, &mistake);
  FUZZ_EXPECT(line >= 0 && line <= lines && (line == 0 || (mistake && *mistake)));
  FUZZ_EXPECT(line != 0 || !memchr(bytes, 0, size));
  for (i = 0; line == 0 && i < PFX_EVENTS; i++) {
    const struct pfx_cost *cost = &costs.cost[i];

    FUZZ_EXPECT(cost->minimum >= 0 && cost->minimum <= cost->typical
      && cost->typical <= cost->maximum && cost->maximum <= PFX_COST_LIMIT
      && costs.has_cost[i] <= 1);
  }
  free(text);
}

#endif

/* fuzz.sh knows these numbers. */
static void (*const parsers[7])(const char *bytes, size_t size) = {
  [0] = try_cpuinfos,
  [1] = try_number,
  [2] = try_cells,
#if defined(__x86_64__) || defined(__i386__)
  [3] = try_leaves,
  [4] = try_page,
#endif
  [5] = try_request,
#ifdef HAVE_PERFEX
  [6] = try_costs,
#endif
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size > 0 && data[0] >= '0' && data[0] < '7' && parsers[data[0] - '0'])
    parsers[data[0] - '0']((const char *)data + 1, size - 1);
  return 0;
}
