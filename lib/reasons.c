/* SPDX-License-Identifier: 0BSD OR MIT */
/* Stores reasons as codes and sentences, and remedies. */

#include "config.h"

#include "lib/reasons.h"

#include <errno.h>
#include <stddef.h>

static const struct {
  const char *code, *sentence;
} reasons[] = {
  { NULL, NULL },
#define CPUC_REASON(id, code, sentence) { code, sentence },
#include "sys/reasons.def"
#undef CPUC_REASON
};

static enum cpuc_reason reason_of_errno(int error)
{
  if (error == ENOTSUP) /* not a case label, because it equals EOPNOTSUPP on some systems */
    error = EOPNOTSUPP;
  switch (error) {
  case EACCES:
  case EPERM:
    return CPUC_REASON_REFUSED;
  case ENOENT:
  case ENODEV:
  case ENOSYS:
  case EOPNOTSUPP:
    return CPUC_REASON_ABSENT;
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return CPUC_REASON_EXHAUSTED;
  default:
    return CPUC_REASON_FAILED;
  }
}

void cpuc_reasons_set(struct cpucycles_counter_info *info, enum cpuc_reason reason)
{
  info->reason = reasons[reason].code;
  info->explanation = reasons[reason].sentence;
}

void cpuc_reasons_drop(struct cpucycles_counter_info *info, enum cpuc_reason reason)
{
  info->state = CPUCYCLES_DROPPED;
  info->score = 0;
  info->smallest_step = 0;
  info->scaling = 0;
  cpuc_reasons_set(info, reason);
}

void cpuc_reasons_drop_errno(struct cpucycles_counter_info *info, int error,
  const struct cpuc_diagnosis *diagnosis)
{
  cpuc_reasons_drop(info, diagnosis->reason ? diagnosis->reason : reason_of_errno(error));
  info->error_number = error;
  if (diagnosis->explanation)
    info->explanation = diagnosis->explanation;
}

/* Changes no member that print_trace() reads, because another thread may print at the same time. */
void cpuc_reasons_explain(struct cpucycles_counter_info *info, const struct cpuc_backend *backend,
  struct cpuc_machine *machine)
{
  struct cpuc_diagnosis diagnosis = { .machine = machine };

  if (info->state != CPUCYCLES_DROPPED || !backend->explain)
    return;
  if (!info->error_number && !info->signal_number
    && info->reason != reasons[CPUC_REASON_NOT_INCREASING].code)
    return;
  backend->explain(info->error_number, info->signal_number, &diagnosis);
  if (diagnosis.reason)
    cpuc_reasons_set(info, diagnosis.reason);
  if (diagnosis.explanation)
    info->explanation = diagnosis.explanation;
  if (diagnosis.remedy)
    info->remedy = diagnosis.remedy;
}

/* Several threads can note reasons at the same time. */
void cpuc_reasons_note_selected(struct cpucycles_counter_info *info, enum cpuc_reason reason)
{
  const char *const worst = reasons[CPUC_REASON_BY_FALLBACK].code;
  const char *old = __atomic_load_n(&info->reason, __ATOMIC_RELAXED);

  do {
    if (old == worst)
      reason = CPUC_REASON_BY_FALLBACK;
    __atomic_store_n(&info->explanation, reasons[reason].sentence, __ATOMIC_RELAXED);
  } while (!__atomic_compare_exchange_n(&info->reason, &old, reasons[reason].code, 0,
    __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}
