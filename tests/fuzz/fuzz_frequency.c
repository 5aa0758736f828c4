/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fuzzes every parser of frequencies and rates: texts of files and of the environment, cells of
   device trees, results of sysctl, the perf page, CPUID. No answer is outside 1 kHz..1 THz, and
   the sanitizers find nothing. Also fuzzes the list of counters in the environment. The first
   byte selects the parser. For libFuzzer: make check-fuzz. */

#include "config.h"

#include "lib/frequency.h"

#include "backends/common/cpuinfo.h"
#include "backends/backend.h"
#include "include/cpucycles.h"
#include "lib/request.h"
#include "sys/architecture.h"
#include "sys/cpuid.h"
#include "sys/parse.h"

#include "tests/fuzz/fuzz.h"
#include "tests/suites/cpuid.h"

#include <stdlib.h>
#include <string.h>
#ifdef HAVE_PERF_EVENTS
#include <linux/perf_event.h>
#endif

static void check(long long hz)
{
  if (hz != 0 && (hz < CPUC_RATE_LOWEST || hz > CPUC_RATE_HIGHEST))
    abort();
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

static void try_number(const char *bytes, size_t size)
{
  static const long long units[] = { 1, 1000, 1000000 };
  char *text = malloc(size + 1);
  const char *rest;
  int i, first, last;

  memcpy(text, bytes, size);
  text[size] = 0;
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

static void try_integer(const char *bytes, size_t size)
{
  check(cpuc_frequency_from_bytes(bytes, (int)size, 1));
  check(cpuc_frequency_from_bytes(bytes, (int)size, 1000000));
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

/* The list in CPUCYCLES_IMPLEMENTATION: the report about it fits and is printable. */
static void try_request(const char *bytes, size_t size)
{
  static const struct cpuc_candidate candidates[] = {
    { .info = { .name = "works" } },
    { .info = { .name = "does-not", .reason = "refused" } },
  };
  char unusable[320], *list = malloc(size + 1);
  size_t i, length;

  memcpy(list, bytes, size);
  list[size] = 0;
  memset(unusable, 'x', sizeof unusable);
  cpuc_request_describe_unusable(list, candidates, 2, unusable, (int)sizeof unusable);
  length = strnlen(unusable, sizeof unusable);
  if (length == sizeof unusable || (length > 0 && !list[strspn(list, ", \t\r\n")]))
    abort();
  for (i = 0; i < length; i++)
    if (unusable[i] < ' ' || unusable[i] > '~')
      abort();
  if (cpuc_request_includes(list, "works") && !strstr(list, "works"))
    abort();
  free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const char *bytes = (const char *)data + 1;

  if (size-- == 0)
    return 0;
  switch (data[0]) {
  case '0':
    try_cpuinfos(bytes, size);
    break;
  case '1':
    try_number(bytes, size);
    break;
  case '2':
    try_cells(bytes, size);
    break;
  case '6':
    try_integer(bytes, size);
    break;
  case '8':
    try_request(bytes, size);
    break;
#if defined(__x86_64__) || defined(__i386__)
  case '5':
    try_leaves(bytes, size);
    break;
  case '7':
    try_page(bytes, size);
    break;
#endif
  default:
    break;
  }
  return 0;
}
