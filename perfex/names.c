/* SPDX-License-Identifier: 0BSD OR MIT */
/* The names of events: NAME, rHEX or PMU/TERMS/, then perhaps a colon and the modes.
   Source: perf-list(1); perf_event_open(2), "type" and "config"; Linux,
   tools/perf/util/parse-events.c and evsel.c for the names,
   Documentation/ABI/testing/sysfs-bus-event_source-devices-format and -events. */

#include "config.h"

#include "perfex/names.h"

#include "perfex/events.h"
#include "perfex/why.h"
#include "sys/parse.h"
#include "sys/perf/event.h"
#include "sys/perf/pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of enum perf_hw_cache_id, _op_id and _op_result_id. */
static const char *const caches[]
  = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
static const char *const accesses[3][2] = { { "-loads", "-load-misses" },
  { "-stores", "-store-misses" }, { "-prefetches", "-prefetch-misses" } };

static int find_cache_event(const char *name, struct pfx_names_event *event)
{
  size_t cache, i;

  for (cache = 0; cache < sizeof caches / sizeof caches[0]; cache++) {
    size_t length = strlen(caches[cache]);

    for (i = 0; i < 6 && strncmp(name, caches[cache], length) == 0; i++)
      if (strcmp(name + length, accesses[i / 2][i % 2]) == 0) {
        event->type = PERF_TYPE_HW_CACHE;
        event->config[0] = cache | i / 2 << 8 | i % 2 << 16;
        return 1;
      }
  }
  return 0;
}

static int find_generic_event(const char *name, struct pfx_names_event *event)
{
  const struct pfx_events_entry *row = pfx_events_find(name);

  if (!row)
    return find_cache_event(name, event);
  event->type = row->type;
  event->config[0] = row->config;
  return 1;
}

/* Parses a number like "0x3c" or "60", which is the whole text. */
static int parse_number(const char *text, uint64_t *number)
{
  char *rest;

  if (*text < '0' || *text > '9')
    return 0;
  errno = 0;
  *number = strtoull(text, &rest, text[1] == 'x' ? 16 : 10);
  return errno == 0 && *rest == 0;
}

/* Stores the bits of `value` as a format file says, such as "config1:0-7,21": the lowest bits of
   the value in the first range. Returns 0 if the format is not understood or the value does not
   fit. */
static int insert(const char *format, uint64_t value, uint64_t config[3])
{
  const char *at = format + strlen("config");
  int word = 0, first, last;

  if (strncmp(format, "config", strlen("config")) != 0)
    return 0;
  if (*at == '1' || *at == '2')
    word = *at++ - '0';
  if (*at++ != ':')
    return 0;
  while ((at = cpuc_parse_next_cpu_range(at, &first, &last)) != NULL) {
    if (last > 63)
      return 0;
    for (; first <= last; first++, value >>= 1)
      config[word] = (config[word] & ~(1ULL << first)) | (value & 1) << first;
  }
  return value == 0;
}

static int add_terms(struct pfx_names_event *event, const char *pmu, char *terms, int is_nested);

/* Adds a term NAME or NAME=VALUE. In the text of an event, which is nested, a name is that of a
   format only. */
/* NOLINTNEXTLINE(misc-no-recursion): is_nested ends it */
static int add_term(struct pfx_names_event *event, const char *pmu, char *term, int is_nested)
{
  char file[96], text[512], *equals = strchr(term, '=');
  uint64_t value = 1;

  if (equals) {
    *equals = 0;
    if (!parse_number(equals + 1, &value))
      return pfx_why(EINVAL, "%s: %.64s is not a number", event->name, equals + 1);
  }
  if (equals && strncmp(term, "config", 6) == 0
    && (term[6] == 0 || ((term[6] == '1' || term[6] == '2') && term[7] == 0))) {
    event->config[term[6] ? term[6] - '0' : 0] = value;
    return 0;
  }
  snprintf(file, sizeof file, "events/%.63s", term);
  if (*term && *term != '.' && !equals && !is_nested
    && cpuc_perf_pmu_read(pmu, file, text, sizeof text)) {
    text[strcspn(text, "\n")] = 0;
    return add_terms(event, pmu, text, 1);
  }
  snprintf(file, sizeof file, "format/%.63s", term);
  if (!*term || *term == '.' || !cpuc_perf_pmu_read(pmu, file, text, sizeof text))
    return pfx_why(EINVAL, "%s: \"%.64s\" is neither an event nor a format in "
                           CPUC_PERF_PMU_LIST "/%s", event->name, term, pmu);
  if (!insert(text, value, event->config))
    return pfx_why(EINVAL, "%s: the value of %.64s does not fit its format", event->name, term);
  return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): see add_term() */
static int add_terms(struct pfx_names_event *event, const char *pmu, char *terms, int is_nested)
{
  char *term;

  while ((term = strsep(&terms, ",")) != NULL)
    if (add_term(event, pmu, term, is_nested) != 0)
      return -1;
  return 0;
}

/* Parses PMU/TERMS/; `slash` is the first slash. */
static int parse_pmu_event(char *pmu, char *slash, struct pfx_names_event *event)
{
  char *end = strchr(slash + 1, '/');
  long long number = -1;

  if (!end || end[1] != 0)
    return pfx_why(EINVAL, "%s: an event of a PMU has two slashes: PMU/event/ or PMU/term=value/",
      event->name);
  *slash = *end = 0;
  if (*pmu && *pmu != '.' && strlen(pmu) < PFX_NAMES_SIZE)
    number = cpuc_perf_pmu_read_type(pmu);
  if (number < 0)
    return pfx_why(EINVAL, "%s: there is no PMU \"%.64s\" in " CPUC_PERF_PMU_LIST,
      event->name, pmu);
  event->type = (uint32_t)number;
  event->counter = event->type == PERF_TYPE_SOFTWARE ? PFX_NAMES_SOFTWARE
    : cpuc_perf_pmu_is_of_cores(pmu) ? PFX_NAMES_CORE_PMU : PFX_NAMES_OTHER_PMU;
  return add_terms(event, pmu, slash + 1, 0);
}

/* Cuts the modes off, and stores them. The default is user mode. */
static int parse_modes(char *text, struct pfx_names_event *event)
{
  char *slash = strrchr(text, '/'), *colon = strchr(slash ? slash : text, ':'), *at;

  event->modes = CPUC_PERF_USER;
  if (!colon)
    return 0;
  event->modes = 0;
  for (at = colon + 1; *at == 'u' || *at == 'k'; at++)
    event->modes |= *at == 'u' ? CPUC_PERF_USER : CPUC_PERF_KERNEL;
  if (*at || event->modes == 0)
    return pfx_why(EINVAL, "%s: the modes are :u, :k or :uk", event->name);
  *colon = 0;
  return 0;
}

/* Events of the kernel that user mode alone cannot count. */
static int check_modes(const struct pfx_names_event *event)
{
  uint64_t number = event->type == PERF_TYPE_SOFTWARE ? event->config[0] : PERF_COUNT_SW_MAX;

  if ((number == PERF_COUNT_SW_CPU_CLOCK || number == PERF_COUNT_SW_TASK_CLOCK)
    && event->modes != (CPUC_PERF_USER | CPUC_PERF_KERNEL))
    return pfx_why(EINVAL, "%s counts user mode and kernel: append :uk", event->name);
  if ((number == PERF_COUNT_SW_CONTEXT_SWITCHES || number == PERF_COUNT_SW_CPU_MIGRATIONS)
    && event->modes == CPUC_PERF_USER)
    return pfx_why(EINVAL, "%s happens in the kernel: append :k or :uk", event->name);
  return 0;
}

static int parse_event(char *text, struct pfx_names_event *event)
{
  unsigned long long number;
  const char *rest;
  char *slash;

  memset(event, 0, sizeof *event);
  snprintf(event->name, sizeof event->name, "%.*s", PFX_NAMES_SIZE - 1, text);
  if (parse_modes(text, event) != 0)
    return -1;
  if ((slash = strchr(text, '/')) != NULL)
    return parse_pmu_event(text, slash, event) ? -1 : check_modes(event);
  if (find_generic_event(text, event)) {
    event->counter
      = event->type == PERF_TYPE_SOFTWARE ? PFX_NAMES_SOFTWARE : PFX_NAMES_GENERIC;
    return check_modes(event);
  }
  if (*text == 'r' && (rest = cpuc_parse_hexadecimal(text + 1, &number)) != NULL && !*rest) {
    event->type = PERF_TYPE_RAW;
    event->config[0] = number;
    event->counter = PFX_NAMES_RAW;
    return 0;
  }
  return pfx_why(EINVAL, "\"%s\" is not the name of an event; see perfex-events(7)", event->name);
}

/* Returns the comma that ends the first name, or the end of the list. A comma between two slashes
   separates terms. */
static const char *end_of_name(const char *list)
{
  int is_inside = 0;

  for (; *list && (*list != ',' || is_inside); list++)
    is_inside ^= *list == '/';
  return list;
}

int pfx_names_parse(const char *list, struct pfx_names_event *events, int most)
{
  static const char blanks[] = " \t\n";
  char text[512];
  int count = 0;

  for (;; list++) {
    const char *end = end_of_name(list += strspn(list, blanks));
    size_t length = (size_t)(end - list);

    while (length > 0 && strchr(blanks, list[length - 1]))
      length--;
    if (length == 0)
      return pfx_why(EINVAL, "a name is empty: \"NAME,NAME...\" is expected");
    if (length >= sizeof text)
      return pfx_why(EINVAL, "a name is longer than %d characters: %.32s...",
        (int)sizeof text - 1, list);
    if (count == most)
      return pfx_why(EINVAL, "there are more than %d names", most);
    memcpy(text, list, length);
    text[length] = 0;
    if (parse_event(text, &events[count++]) != 0)
      return -1;
    list = end;
    if (!*list)
      return count;
  }
}
