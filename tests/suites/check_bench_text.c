/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the lines of text and JSON of <cpucycles/bench.h>. */

#include "config.h"

#include "include/cpucycles/bench.h"

#include "tests/suites/suite.h"

typedef int format(char *part, int size, int from, const void *result);

static int text_of(char *part, int size, int from, const void *result)
{
  return cpucycles_bench_text(part, size, from, NULL, result);
}

static int json_of(char *part, int size, int from, const void *result)
{
  return cpucycles_bench_json(part, size, from, NULL, result);
}

static int comparison_of(char *part, int size, int from, const void *comparison)
{
  return cpucycles_bench_comparison_text(part, size, from, comparison);
}

/* Expects this line, whole and in parts of each size, and no byte beyond a part. */
static void expect_line(format *format_line, const void *result, const char *line)
{
  int length = (int)strlen(line), size, from, part_length;
  char part[1024];

  for (size = 1; size < 1000; size += size < 40 ? 1 : 240)
    for (from = 0; from <= length; from += part_length > 0 ? part_length : length + 1) {
      int expected = length - from < size - 1 ? length - from : size - 1;

      memset(part, '~', sizeof part);
      part_length = format_line(part, size, from, result);
      ck_assert_int_eq(part_length, expected);
      ck_assert_msg(strncmp(part, line + from, (size_t)expected) == 0, "%s, not %s", part, line);
      ck_assert(part[expected] == 0 && part[size] == '~');
    }
  part[0] = '~';
  ck_assert_int_eq(format_line(part, 0, 0, result), 0);
  ck_assert_int_eq(part[0], '~');
  ck_assert_int_eq(format_line(part, 9, length, result), 0);
  ck_assert_int_eq(format_line(part, 9, length + 9, result), 0);
}

static const struct cpucycles_bench_result hash = { .cycles = 4005.94, .cycles_low = 4001.94,
  .cycles_high = 4009.94, .minimum = 2600, .lower_quartile = 2610, .median = 2611.5,
  .upper_quartile = 2700.0625, .maximum = 1e6, .mean = 2633.3333, .nanoseconds = 1304.24,
  .core_ratio = 1.533965, .frequency_low = 2.9e9, .frequency_high = 3.1e9, .empty = 4.0006,
  .kept = 0.98766, .calls = 8, .time = 1795822800, .name = "hash", .unit = "reference cycles",
  .mark = "", .samples = 1234 };

#define LONG_NAME "a name of more than thirty-two bytes"

TEST_LOOP(line_of_text_is_as_documented, 7)
{
  static const char *const lines[] = {
    "hash                                  4005.9 core cycles      1304.2 ns  +-0.1 %\n",
    "hash                                  4005.9 core cycles      1304.2 ns  +-0.1 %    62.593 per"
      " byte  crowded\n",
    LONG_NAME "     4005.9 core cycles      1304.2 ns  +-0.1 %\n",
    "hash                                  2611.5 reference cycles      1304.2 ns  +-1.7 %\n",
    "hash                                  4005.9 core cycles time not known  +-0.1 %\n",
    "hash                             The counter is stopped.\n",
    "                                 12345678901 core cycles      1304.2 ns  +-0.0 %\n",
  };
  struct cpucycles_bench_result r = hash;

  if (_i == 1) {
    r.bytes = 64;
    r.mark = "crowded";
  }
  r.name = _i == 2 ? LONG_NAME : _i == 6 ? NULL : r.name;
  if (_i == 3)
    r.cycles = r.cycles_low = r.cycles_high = 0;
  if (_i == 4)
    r.nanoseconds = 0;
  if (_i == 5) {
    r.samples = 0;
    r.note = "The counter is stopped.";
  }
  if (_i == 6)
    r.cycles = r.cycles_low = r.cycles_high = 12345678901.4;
  expect_line(text_of, &r, lines[_i]);
}

TEST(line_of_json_has_every_member)
{
  struct cpucycles_bench_result r = hash;
  char line[1024], process[64], *found;

  cpucycles_bench_json(line, sizeof line, 0, NULL, &r);
  found = strstr(line, "\"process\":\""); /* report.sh tests its meaning */
  ck_assert_ptr_nonnull(found);
  snprintf(process, sizeof process, "%.*s", (int)strcspn(found, ","), found);
  r.name = "a \"b\\\n";
  r.bytes = 64;
  r.note = "A note.";
  r.mark = "few";
  snprintf(line, sizeof line,
    "{\"name\":\"a \\u0022b\\u005c\\u000a\",\"counter\":\"%s\",\"unit\":\"reference cycles\","
    "\"version\":\"%s\",%s,\"cycles\":4005.940,\"cycles_low\":4001.940,\"cycles_high\":4009.940,"
    "\"minimum\":2600.000,\"lower_quartile\":2610.000,\"median\":2611.500,"
    "\"upper_quartile\":2700.063,\"maximum\":1000000.000,\"mean\":2633.333,"
    "\"nanoseconds\":1304.240,\"core_ratio\":1.533965,\"frequency_low\":2900000000,"
    "\"frequency_high\":3100000000,\"empty\":4.001,\"kept\":0.9877,\"bytes\":64.000,\"calls\":8,"
    "\"samples\":1234,\"time\":1795822800,\"mark\":\"few\",\"note\":\"A note.\"}\n",
    cpucycles_implementation(), cpucycles_version(), process);
  expect_line(json_of, &r, line);
}

TEST_LOOP(line_of_a_comparison_is_as_documented, 6)
{
  static const struct {
    double ratio, low, high;
    const char *line;
  } rows[] = {
    { 1.005, 1.0046, 1.00549, "g takes 1.005 (1.005 to 1.005) times the time of hash: differ\n" },
    { 0.99876, 0.9, 9.9996, "g takes 0.9988 (0.9000 to 10.00) times the time of hash: differ\n" },
    { 123.456, 0, 0, "g takes 123.5 times the time of hash: differ\n" },
    { 1.3333e-6, 1e-6, 2e-6,
      "g takes 0.000001333 (0.000001000 to 0.000002000) times the time of hash: differ\n" },
    { 12345.6, 0, 0, "g takes 12346 times the time of hash: differ  hash: few  g: crowded\n" },
    { 1, 0, 0, "g takes not known: The counter is stopped.\n" },
  };
  struct cpucycles_bench_comparison c = { .ratio = rows[_i].ratio, .low = rows[_i].low,
    .high = rows[_i].high, .verdict = "differ", .f = hash, .g = hash };

  c.g.name = NULL;
  if (_i == 4) {
    c.f.mark = "few";
    c.g.mark = "crowded";
  }
  if (_i == 5) {
    c.f.samples = 0;
    c.f.note = "The counter is stopped.";
  }
  expect_line(comparison_of, &c, rows[_i].line);
}

TEST(print_functions_print_whole_lines)
{
  struct cpucycles_bench_comparison c = { .ratio = 1, .verdict = "same", .f = hash, .g = hash };
  char name[601] = "", printed[4096], expected[4096];
  FILE *file = tmpfile();
  int length;

  ck_assert_ptr_nonnull(file);
  memset(name, 'n', 600);
  c.f.name = name;
  cpucycles_bench_print(file, name, &hash);
  cpucycles_bench_print_json(file, name, &hash);
  cpucycles_bench_print_comparison(file, &c);
  length = cpucycles_bench_text(expected, 2048, 0, name, &hash);
  length += cpucycles_bench_json(expected + length, 2048, 0, name, &hash);
  length += cpucycles_bench_comparison_text(expected + length, 1024, 0, &c);
  ck_assert_int_gt(length, 1800); /* the name in each line */
  rewind(file);
  printed[fread(printed, 1, sizeof printed - 1, file)] = 0;
  ck_assert_str_eq(printed, expected);
  fclose(file);
}

SUITE("bench_text")
