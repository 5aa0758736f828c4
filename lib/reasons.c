/* SPDX-License-Identifier: 0BSD OR MIT */
/* Why counters were dropped: reason codes of cpucycles(3), their sentences, and remedies. */

#include "config.h"

#include "lib/reasons.h"
#include "sys/os-thread.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const char *const kinds[] = {
  [CPUCYCLES_KIND_CORE] = "core",
  [CPUCYCLES_KIND_PERF_READ] = "perf read",
  [CPUCYCLES_KIND_REFERENCE] = "reference",
  [CPUCYCLES_KIND_SCALED] = "scaled",
  [CPUCYCLES_KIND_CLOCK] = "clock",
  [CPUCYCLES_KIND_NONE] = "none",
};

static const char *const scopes[] = {
  [CPUCYCLES_SCOPE_THREAD] = "thread",
  [CPUCYCLES_SCOPE_CORE] = "core",
  [CPUCYCLES_SCOPE_SYSTEM] = "system",
};

/* All reasons. cpucycles(3) and the schema of the JSON report list them too. */
static const struct {
  const char *code, *sentence;
} reasons[] = {
  { "not-increasing", "it stands still" },
  { "decreasing", "it runs backward" },
  { "signal", "access to it raises a signal" },
  { "refused", "the system refuses access to it" },
  { "absent", "this CPU, kernel or virtual machine does not have it" },
  { "exhausted", "the system is out of descriptors or memory for it" },
  { "failed", "the system cannot open it" },
  { "no-rate", "it must be scaled to cycles, and nothing states its rate" },
  { "no-multiple", "nothing states its rate, and it is no simple multiple of a cycle" },
  { "no-time", "nothing states its rate, and measuring others took all the time that there was" },
  { "rate-mismatch", "it does not count at the rate that is stated" },
  { "clock-step", "the clock to measure it by was set back meanwhile" },
  { "clock-stopped", "the clock to measure it by stands still" },
  { "not-asked", "CPUCYCLES_IMPLEMENTATION does not name it" },
  { "by-read", "the kernel does not show it any more: some thread reads it by a system call" },
  { "by-next-best", "some thread could not have it, or lost it, and goes on with the next best" },
};

enum { REASONS = sizeof reasons / sizeof reasons[0] };

static const char *code_of_errno(int error)
{
  if (error == ENOTSUP) /* the same as EOPNOTSUPP on some systems, and so no case beside it */
    error = EOPNOTSUPP;
  switch (error) {
  case EACCES:
  case EPERM:
    return "refused";
  case ENOENT:
  case ENODEV:
  case ENOSYS:
  case EOPNOTSUPP:
    return "absent";
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return "exhausted";
  default:
    return "failed";
  }
}

void cpucycles_counter_describe(struct cpucycles_counter_info *info,
  const struct cpucycles_entry *entry)
{
  info->name = entry->name;
  info->summary = entry->summary;
  info->kind = kinds[entry->backend->kind];
  info->scope = scopes[entry->backend->scope];
  info->unit = entry->backend->unit;
  info->width = entry->backend->width;
}

static int find_reason(const char *code)
{
  int i = 0;

  while (i < REASONS - 1 && strcmp(reasons[i].code, code) != 0)
    i++;
  return i;
}

void cpucycles_counter_drop(struct cpucycles_counter_info *info, const char *reason)
{
  int i = find_reason(reason);

  info->state = CPUCYCLES_DROPPED;
  info->precision = 0;
  info->scaling = 0;
  info->reason = reasons[i].code;
  info->explanation = reasons[i].sentence;
}

void cpucycles_counter_drop_errno(struct cpucycles_counter_info *info, int error,
  const struct cpucycles_why *why)
{
  cpucycles_counter_drop(info, why->reason ? why->reason : code_of_errno(error));
  info->error_number = error;
  info->remedy = why->remedy;
  if (why->explanation)
    info->explanation = why->explanation;
}

void cpucycles_counter_drop_signal(struct cpucycles_counter_info *info, int signal,
  const struct cpucycles_why *why)
{
  cpucycles_counter_drop(info, "signal");
  info->signal_number = signal;
  info->remedy = why->remedy;
}

/* Replaces a text by the one that was found, if any. Several threads may find it at once, and
   programs read it as soon as one of them has returned: so only the first of them writes. */
static void publish(const char **where, const char *text)
{
  const char *known = __atomic_load_n(where, __ATOMIC_ACQUIRE);

  if (text && known != text)
    __atomic_compare_exchange_n(where, &known, text, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

void cpucycles_counter_explain(struct cpucycles_counter_info *info,
  const struct cpucycles_backend *backend)
{
  struct cpucycles_why why = { 0 };

  if (info->state != CPUCYCLES_DROPPED || !backend->explain)
    return;
  if (!info->error_number && !info->signal_number && strcmp(info->reason, "not-increasing") != 0)
    return;
  backend->explain(info->error_number, info->signal_number, &why);
  publish(&info->explanation, why.explanation);
  publish(&info->remedy, why.remedy);
}

void cpucycles_counters_explain(struct cpucycles_counter_info *infos,
  const struct cpucycles_entry *table, int count)
{
  static int explained;
  int i, state, saved_errno = errno;

  if (__atomic_load_n(&explained, __ATOMIC_ACQUIRE))
    return;
  state = cpucycles_disable_cancellation();
  for (i = 0; i < count; i++)
    cpucycles_counter_explain(&infos[i], table[i].backend);
  cpucycles_restore_cancellation(state);
  __atomic_store_n(&explained, 1, __ATOMIC_RELEASE);
  errno = saved_errno;
}

/* The last reason of the table is the worst, and is never replaced. */
void cpucycles_counter_note(struct cpucycles_counter_info *info, const char *code)
{
  int i = find_reason(code);

  if (__atomic_load_n(&info->reason, __ATOMIC_RELAXED) == reasons[REASONS - 1].code)
    return;
  __atomic_store_n(&info->explanation, reasons[i].sentence, __ATOMIC_RELAXED);
  __atomic_store_n(&info->reason, reasons[i].code, __ATOMIC_RELAXED);
}
