/* SPDX-License-Identifier: 0BSD OR MIT */
/* The frequency estimate: the first source that answers, and nothing that a malformed file can do but be
   skipped. The machines here are folders made for the test. */

#include "config.h"

#include "lib/library.h"

#include "tests/suite.h"

#include <errno.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "cpucycles-machine-XXXXXX";
static const char *environment_value;

static const char *environment(const char *name)
{
  return strcmp(name, "cpucyclespersecond") == 0 ? environment_value : NULL;
}

/* A machine that says nothing yet. */
static void make_machine(void)
{
  ck_assert_ptr_nonnull(mkdtemp(root));
}

/* The path below the machine's root, its folders made. */
static const char *path_of(const char *path)
{
  static char whole[512];
  char *slash;

  snprintf(whole, sizeof whole, "%s%s", root, path);
  for (slash = strchr(whole, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    ck_assert(mkdir(whole, 0777) == 0 || errno == EEXIST);
    *slash = '/';
  }
  return whole;
}

static void write_file(const char *path, const char *text)
{
  FILE *file = fopen(path_of(path), "w");

  ck_assert_ptr_nonnull(file);
  ck_assert_int_ge(fputs(text, file), 0);
  ck_assert_int_eq(fclose(file), 0);
}

static void remove_machine(void)
{
  char command[600];

  snprintf(command, sizeof command, "rm -rf '%s'", root);
  ck_assert_int_eq(system(command), 0);
}

static struct cpucycles_frequency estimate(void)
{
  struct cpucycles_host host = { root, environment };
  struct cpucycles_calm calm;
  struct cpucycles_frequency found;

  cpucycles_calm_begin(&calm);
  cpucycles_trial_begin(&calm);
  found = cpucycles_frequency(&host);
  cpucycles_trial_end();
  cpucycles_calm_end(&calm);
  return found;
}

static void expect(long long persecond, const char *source)
{
  struct cpucycles_frequency found = estimate();

  ck_assert_str_eq(found.source, source);
  ck_assert_int_eq(found.persecond, persecond);
}

#define CPU0 "/sys/devices/system/cpu/cpu0/"

START_TEST(machine_that_says_nothing_has_the_default)
{
  make_machine();
  expect(2399987654, "default");
  remove_machine();
}
END_TEST

START_TEST(sources_answer_in_their_order)
{
  make_machine();
  environment_value = "1234567890";
  expect(1234567890, "cpucyclespersecond");
  write_file("/proc/cpuinfo", "cpu MHz\t\t: 1600.000\n");
  expect(1600000000, "/proc/cpuinfo");
  write_file(CPU0 "acpi_cppc/nominal_freq", "1700\n");
  expect(1700000000, "acpi_cppc/nominal_freq");
  write_file(CPU0 "cpufreq/base_frequency", "1800000\n");
  expect(1800000000, "cpufreq/base_frequency");
  write_file(CPU0 "cpufreq/scaling_max_freq", "1900000\n");
  expect(1900000000, "cpufreq/scaling_max_freq");
  write_file(CPU0 "cpufreq/scaling_setspeed", "<unsupported>\n");
  expect(1900000000, "cpufreq/scaling_max_freq");
  write_file(CPU0 "cpufreq/scaling_setspeed", "2000000\n");
  expect(2000000000, "cpufreq/scaling_setspeed");
  write_file("/etc/cpucyclespersecond", "2100000001\n");
  expect(2100000001, "/etc/cpucyclespersecond");
  remove_machine();
}
END_TEST

START_TEST(first_cpu_present_need_not_be_number_0)
{
  make_machine();
  write_file("/sys/devices/system/cpu/present", "6-7,10-11,14-15\n");
  write_file("/sys/devices/system/cpu/cpu6/clock_tick", "248000000\n");
  expect(248000000, "clock_tick");
  remove_machine();
}
END_TEST

/* A line of /proc/cpuinfo, and what follows from it; 0: nothing. */
static const struct {
  const char *line;
  long long persecond;
} dialects[] = {
  { "cpu MHz\t\t: 2596.132\n", 2596132000 },
  { "CPU MHz\t\t\t: 2500.00\n", 2500000000 },
  { "clock\t\t: 3550.000000MHz\n", 3550000000 },
  { "cpu MHz static  : 5000\n", 5000000000 },
  { "cpu MHz dynamic : 5000\n", 0 },
  { "Cpu0ClkTck\t: 000000000ec82e00\n", 248000000 },
  { "Cpu15ClkTck\t: 000000000EC82E00\n", 248000000 },
  { "CpuXClkTck\t: 000000000ec82e00\n", 0 },
  { "cycle frequency [Hz]\t: 462962962 est.\n", 462962962 },
  { "cycle frequency [Hz]\t: 500000000\n", 500000000 },
  { "model name\t: 11th Gen Intel(R) Core(TM) i7-1165G7 @ 2.80GHz\n", 2800000000 },
  { "model name\t: Something Old @ 733MHz\n", 733000000 },
  { "model name\t: AMD EPYC\n", 0 },
  { "model name\t: Riddle @ GHz\n", 0 },
  { "BogoMIPS\t: 1694.10\n", 0 },
  { "bogomips\t: 5192.26\n", 0 },
  { "bogomips per cpu: 14367.00\n", 0 },
  { "timebase\t: 512000000\n", 0 },
  { "cpu MHz\t\t: 2596,132\n", 0 },
  { "cpu MHz\t\t: -2596.132\n", 0 },
  { "cpu MHz\t\t: nan\n", 0 },
  { "cpu MHz\t\t: 1e300\n", 0 },
  { "cpu MHz\t\t: 0.000\n", 0 },
  { "cpu MHz\t\t: 0.000999\n", 0 },
  { "cpu MHz\t\t: 0.001\n", 1000 },
  { "cpu MHz\t\t: 1000000\n", 1000000000000 },
  { "cpu MHz\t\t: 1000000.000001\n", 0 },
  { "cpu MHz\t\t: 99999999999999999999999999999999\n", 0 },
  { "cpu MHz\t\t: 25", 0 }, /* cut short */
  { "cpu MHz\t\t: 2500.", 0 },
  { "clock\t\t: 3550\n", 0 },
  { "Cpu0ClkTck\t: \n", 0 },
  { "cpu MHz\n", 0 },
  { ":\n", 0 },
  { "", 0 },
};

START_TEST(every_dialect_of_cpuinfo_is_understood)
{
  size_t i;

  make_machine();
  for (i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
    long long persecond = dialects[i].persecond;

    write_file("/proc/cpuinfo", dialects[i].line);
    expect(persecond ? persecond : CPUCYCLES_FREQUENCY_DEFAULT, persecond ? "/proc/cpuinfo" : "default");
  }
  remove_machine();
}
END_TEST

START_TEST(idle_cores_do_not_hide_the_frequency)
{
  make_machine();
  write_file("/proc/cpuinfo",
    "cpu MHz : 800.000\ncpu MHz : 3100.000\ncpu MHz : 900.000\nmodel name : X @ 2.80GHz\n");
  expect(3100000000, "/proc/cpuinfo");
  remove_machine();
}
END_TEST

START_TEST(long_cpuinfo_is_not_read_whole)
{
  FILE *file;
  int i;

  make_machine();
  file = fopen(path_of("/proc/cpuinfo"), "w");
  ck_assert_ptr_nonnull(file);
  for (i = 0; i < 1024; i++) {
    int j;

    fprintf(file, "processor\t: %d\ncpu MHz\t\t: %d.000\nflags\t\t:", i, 1000 + i);
    for (j = 0; j < 300; j++)
      fprintf(file, " flag%d", j);
    fprintf(file, "\n");
  }
  fclose(file);
  i = (int)(estimate().persecond / 1000000);
  ck_assert_int_ge(i, 1010); /* more than a few CPUs */
  ck_assert_int_le(i, 1020); /* and not many: 32 KiB of 2.6 MB */
  remove_machine();
}
END_TEST

/* What an administrator or a user can put where a number belongs. */
static const char *const junk[] = { "", "\n", "fast\n", "-5\n", "nan\n", "inf\n", "1e300\n", "0\n", "999\n",
  "1000000000001\n", "99999999999999999999999999\n", "2400000000x\n", "2400000000 2400000000\n",
  "0x8f0d1800\n", "2,4\n", "2400000000,5\n", "2400000000.\n", ".5\n", "+2400000000\n" };

START_TEST(junk_setting_is_skipped)
{
  size_t i;

  make_machine();
  write_file("/proc/cpuinfo", "cpu MHz\t\t: 1600.000\n");
  for (i = 0; i < sizeof junk / sizeof junk[0]; i++) {
    write_file("/etc/cpucyclespersecond", junk[i]);
    expect(1600000000, "/proc/cpuinfo");
  }
  write_file("/etc/cpucyclespersecond", " 2400000000"); /* written without a line's end: fine */
  expect(2400000000, "/etc/cpucyclespersecond");
  write_file("/etc/cpucyclespersecond", "2400000000.7 \r\n");
  expect(2400000000, "/etc/cpucyclespersecond");
  remove_machine();
}
END_TEST

START_TEST(junk_in_the_environment_is_skipped)
{
  size_t i;

  make_machine();
  for (i = 0; i < sizeof junk / sizeof junk[0]; i++) {
    environment_value = junk[i];
    expect(CPUCYCLES_FREQUENCY_DEFAULT, "default");
  }
  remove_machine();
}
END_TEST

START_TEST(setting_that_is_no_file_is_skipped)
{
  FILE *file;
  int i;

  make_machine();
  ck_assert_int_eq(mkdir(path_of("/etc/cpucyclespersecond"), 0777), 0);
  expect(CPUCYCLES_FREQUENCY_DEFAULT, "default");
  rmdir(path_of("/etc/cpucyclespersecond"));
  ck_assert_int_eq(mkfifo(path_of("/etc/cpucyclespersecond"), 0666), 0);
  expect(CPUCYCLES_FREQUENCY_DEFAULT, "default"); /* and returns at all */
  remove(path_of("/etc/cpucyclespersecond"));
  file = fopen(path_of("/etc/cpucyclespersecond"), "w");
  for (i = 0; i < 1000000; i++)
    putc('1', file);
  fclose(file);
  expect(CPUCYCLES_FREQUENCY_DEFAULT, "default");
  remove_machine();
}
END_TEST

START_TEST(kernel_number_cut_short_is_no_answer)
{
  make_machine();
  write_file(CPU0 "cpufreq/scaling_max_freq", "19000");
  expect(CPUCYCLES_FREQUENCY_DEFAULT, "default");
  remove_machine();
}
END_TEST

START_TEST(path_too_long_is_no_answer)
{
  static char longer[2000];
  struct cpucycles_host host = { longer, environment };

  memset(longer, '/', sizeof longer - 1);
  ck_assert_str_eq(cpucycles_frequency(&host).source, "default");
}
END_TEST

START_TEST(decimal_comma_of_the_locale_changes_nothing)
{
  if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
    skip("decimal_comma_of_the_locale_changes_nothing", "no locale with a decimal comma is installed");
    return;
  }
  make_machine();
  write_file("/proc/cpuinfo", "cpu MHz\t\t: 2596.132\n");
  expect(2596132000, "/proc/cpuinfo");
  remove_machine();
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, machine_that_says_nothing_has_the_default);
  tcase_add_test(tests, sources_answer_in_their_order);
  tcase_add_test(tests, first_cpu_present_need_not_be_number_0);
  tcase_add_test(tests, every_dialect_of_cpuinfo_is_understood);
  tcase_add_test(tests, idle_cores_do_not_hide_the_frequency);
  tcase_add_test(tests, long_cpuinfo_is_not_read_whole);
  tcase_add_test(tests, junk_setting_is_skipped);
  tcase_add_test(tests, junk_in_the_environment_is_skipped);
  tcase_add_test(tests, setting_that_is_no_file_is_skipped);
  tcase_add_test(tests, kernel_number_cut_short_is_no_answer);
  tcase_add_test(tests, path_too_long_is_no_answer);
  tcase_add_test(tests, decimal_comma_of_the_locale_changes_nothing);
}

int main(void)
{
  return suite_main("frequency", add);
}
