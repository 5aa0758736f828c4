/* SPDX-License-Identifier: 0BSD OR MIT */
/* Estimates the CPU frequency: asks the sources of a table in order until one has a result. The
   other files frequency-*.c contain sources. Starts no process, ignores the locale, reads a bounded
   number of bytes, and ignores malformed input. */

#include "config.h"

#include "backends/common/cpuinfo.h"
#include "lib/frequency.h"
#include "sys/environment.h"
#include "sys/guard.h"
#include "sys/parse.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { KHZ = 1000, MHZ = 1000000 };

/* Appends a sentence about a setting that is ignored: its name and the reason. */
static void note_ignored(struct cpuc_frequency_query *query, const char *setting, const char *why)
{
  char *ignored = query->found.ignored;
  size_t size = sizeof query->found.ignored, used = strlen(ignored);

  snprintf(ignored + used, size - used, "%s%s %s", used ? "; " : "", setting, why);
}

/* Parses a setting. If it is not a valid number, notes that it is ignored and returns 0. */
static long long parse_setting(struct cpuc_frequency_query *query, const char *setting,
  const char *text)
{
  long long number = cpuc_parse_number(text, 1),
            hz = cpuc_rate_if_plausible((unsigned long long)number);

  if (number < 0)
    note_ignored(query, setting,
      cpuc_parse_is_rest_blank(text) ? "is empty" : "is not a decimal number");
  else if (hz == 0)
    note_ignored(query, setting, "is below 1000 or above 1000000000000");
  return hz;
}

/* Reads the file of the administrator, which contains one number. */
static long long from_settings_file(struct cpuc_frequency_query *query)
{
  const char *path = query->source->name;
  char text[64];
  int length = cpuc_file_read_whole(path, text, sizeof text);

  if (length >= 0 && !memchr(text, 0, (size_t)length)) {
    text[length] = 0;
    return parse_setting(query, path, text);
  }
  if (length >= 0)
    note_ignored(query, path, "is not a text file");
  else if (errno == EFBIG)
    note_ignored(query, path, "is too long for a number");
  else if (errno != ENOENT && errno != ENOTDIR)
    note_ignored(query, path, "cannot be read");
  return 0;
}

static long long from_system(struct cpuc_frequency_query *query)
{
  struct cpuc_rate reported = cpuc_frequency_from_system();

  query->name = reported.source;
  return reported.hz;
}

static long long from_environment(struct cpuc_frequency_query *query)
{
  const char *name = query->source->name, *value = cpuc_environment(name);

  return value ? parse_setting(query, name, value) : 0;
}

/* Notes that the variable, if it is set, is ignored, because an earlier source has a result. */
static void note_unneeded_environment(struct cpuc_frequency_query *query,
  const struct cpuc_frequency_query_source *source)
{
  const char *value = cpuc_environment(source->name);

  if (value && parse_setting(query, source->name, value) != 0)
    note_ignored(query, source->name, "is not needed: an earlier source has a frequency");
}

static long long from_measurement(struct cpuc_frequency_query *query)
{
  (void)query;
  return cpuc_frequency_measure_core();
}

static const struct cpuc_frequency_query_source sources[] = {
  { "/etc/cpucyclespersecond", from_settings_file, 1, 1, 0 },
  { "cpufreq/scaling_setspeed", cpuc_frequency_from_sysfs, KHZ, 0, 0 },
  { "cpufreq/scaling_max_freq", cpuc_frequency_from_sysfs, KHZ, 0, 0 },
  { "cpufreq/cpuinfo_max_freq", cpuc_frequency_from_sysfs, KHZ, 0, 0 },
  { "cpufreq/base_frequency", cpuc_frequency_from_sysfs, KHZ, 0, 0 },
  { CPUC_CPUINFO, cpuc_frequency_from_cpuinfo, 1, 0, 0 },
  { "acpi_cppc/nominal_freq", cpuc_frequency_from_sysfs, MHZ, 0, 0 },
  { "clock_tick", cpuc_frequency_from_sysfs, 1, 0, 0 },
  /* vendors copy the rate of the time base into clock-frequency */
  { "/proc/device-tree", cpuc_frequency_from_device_tree, 1, 0, 1 },
  { "system call", from_system, 1, 0, 0 },
  { "reference counter", cpuc_frequency_from_reference, 1, 0, 0 },
  { CPUC_CPUINFO, cpuc_frequency_from_current_mhz, 1, 0, 0 },
  { "cpucyclespersecond", from_environment, 1, 1, 0 },
  { "measurement", from_measurement, 1, 0, 0 },
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

static void run_source(void *argument)
{
  struct cpuc_frequency_query *query = argument;

  query->result = query->source->run(query);
}

/* Runs one source under the fault guard. Returns its result in Hz, or 0 if it has none or causes a
   fault. */
static long long run_guarded(struct cpuc_frequency_query *query,
  const struct cpuc_frequency_query_source *source)
{
  query->source = source;
  query->result = 0;
  query->name = source->name;
  if (cpuc_guard_run(run_source, query) != 0 && source->is_setting)
    note_ignored(query, source->name, "causes a fault");
  return query->result;
}

/* A core that is idle or slowed down runs at a fraction of its frequency, so only an estimate that
   is too low can be recognized. */
static int is_too_low(const struct cpuc_frequency_query_source *source, long long hz,
  long long least)
{
  return !source->is_setting
    && (hz < least || (source->is_doubtful && hz > 0 && hz < cpuc_frequency_least_plausible()));
}

struct cpuc_frequency cpuc_frequency_estimate(long long least)
{
  struct cpuc_frequency_query query
    = { .found = { CPUC_FREQUENCY_DEFAULT, CPUC_FREQUENCY_DEFAULT_SOURCE, "", 0 } };
  long long hz = 0;
  int i;

  for (i = 0; i < SOURCES && hz == 0; i++) {
    hz = run_guarded(&query, &sources[i]);
    if (is_too_low(&sources[i], hz, least))
      hz = 0;
    if (hz > 0) {
      query.found.is_setting = sources[i].is_setting;
      query.found.persecond = hz;
      query.found.source = query.name;
    }
  }
  for (; i < SOURCES; i++)
    if (sources[i].is_setting)
      note_unneeded_environment(&query, &sources[i]);
  return query.found;
}
