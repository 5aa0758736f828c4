/* SPDX-License-Identifier: 0BSD OR MIT */
/* The reason codes of cpucycles-internals(7), their sentences, and remedies. */

#include "config.h"

#include "lib/reasons.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* All reasons, which cpucycles-internals(7) and the schema of the JSON report list as well. Of the
   last two, the later one is worse. */
static const struct {
  const char *code, *sentence;
} reasons[] = {
  { "not-increasing", "its count did not change" },
  { "decreasing", "its count steps back" },
  { "signal", "access to it causes a fault" },
  { "refused", "the system refuses access to it" },
  { "absent", "this CPU, kernel or virtual machine does not have it" },
  { "exhausted", "no descriptor or memory is left to open it" },
  { "failed", "the system cannot open it" },
  { "no-rate", "its rate is unknown, so it cannot be scaled to cycles" },
  { "no-multiple", "its rate is not reported, and its unit is not a simple multiple or fraction of "
    "a cycle" },
  { "rate-mismatch", "its measured rate is implausible, or differs from the reported rate" },
  { "clock-decreasing", "the OS clock stepped back while the rate of this counter was measured" },
  { "clock-not-increasing", "the OS clock did not advance while the rate of this counter was "
    "measured" },
  { "not-core-cycles", "it does not count core cycles" },
  { "not-asked", "CPUCYCLES_IMPLEMENTATION does not name it" },
  { "by-read", "at least one thread has no user-space access, and reads it with a system call" },
  { "by-fallback", "at least one thread could not open it or lost it, and uses the fallback "
    "counter" },
};

enum { REASONS = sizeof reasons / sizeof reasons[0] };

static const char *code_of_errno(int error)
{
  if (error == ENOTSUP) /* not a case label, because it equals EOPNOTSUPP on some systems */
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

static int find_reason(const char *code)
{
  int i = 0;

  while (i < REASONS - 1 && strcmp(reasons[i].code, code) != 0)
    i++;
  return i;
}

static void set_reason(struct cpucycles_counter_info *info, const char *reason)
{
  int i = find_reason(reason);

  info->reason = reasons[i].code;
  info->explanation = reasons[i].sentence;
}

void cpuc_reasons_drop(struct cpucycles_counter_info *info, const char *reason)
{
  info->state = CPUCYCLES_DROPPED;
  info->score = 0;
  info->scaling = 0;
  set_reason(info, reason);
}

void cpuc_reasons_drop_errno(struct cpucycles_counter_info *info, int error,
  const struct cpuc_diagnosis *diagnosis)
{
  cpuc_reasons_drop(info, diagnosis->reason ? diagnosis->reason : code_of_errno(error));
  info->error_number = error;
  if (diagnosis->explanation)
    info->explanation = diagnosis->explanation;
}

void cpuc_reasons_drop_signal(struct cpucycles_counter_info *info, int signal)
{
  cpuc_reasons_drop(info, "signal");
  info->signal_number = signal;
}

/* Changes no member that print_trace() reads, because another thread may print at the same time. */
void cpuc_reasons_explain(struct cpucycles_counter_info *info, const struct cpuc_backend *backend)
{
  struct cpuc_diagnosis diagnosis = { 0 };

  if (info->state != CPUCYCLES_DROPPED || !backend->explain)
    return;
  if (!info->error_number && !info->signal_number && strcmp(info->reason, "not-increasing") != 0)
    return;
  backend->explain(info->error_number, info->signal_number, &diagnosis);
  if (diagnosis.reason)
    set_reason(info, diagnosis.reason);
  if (diagnosis.explanation)
    info->explanation = diagnosis.explanation;
  if (diagnosis.remedy)
    info->remedy = diagnosis.remedy;
}

void cpuc_reasons_note_unproven(struct cpucycles_counter_info *info)
{
  set_reason(info, "not-core-cycles");
}

/* Of the old reason and the new one, keeps the one that is later in the table, because it is the
   worse one. */
void cpuc_reasons_note_selected(struct cpucycles_counter_info *info, const char *code)
{
  int noted = find_reason(code), i;
  const char *old = __atomic_load_n(&info->reason, __ATOMIC_RELAXED);

  /* Several threads can note reasons at the same time. */
  do {
    i = old && find_reason(old) > noted ? find_reason(old) : noted;
    __atomic_store_n(&info->explanation, reasons[i].sentence, __ATOMIC_RELAXED);
  } while (!__atomic_compare_exchange_n(&info->reason, &old, reasons[i].code, 0, __ATOMIC_RELEASE,
    __ATOMIC_RELAXED));
}
