/* SPDX-License-Identifier: 0BSD OR MIT */
/* Why a counter or an event was refused, and what helps. */

#ifndef CPUCYCLES_DIAGNOSIS_H
#define CPUCYCLES_DIAGNOSIS_H

#include "sys/machine.h"

/* Why a counter was dropped, or is not read directly. Of the last two, the later one is worse. */
enum cpuc_reason {
  CPUC_REASON_NONE,
#define CPUC_REASON(id, code, sentence) CPUC_REASON_##id,
#include "sys/reasons.def"
#undef CPUC_REASON
};

/* What open() of a backend may add to its result, and explain() to the reason of a dropped counter.
   A member that is not 0 replaces the default of the library. The caller sets `machine`, and all
   other members to 0, before it calls open() or explain(). */
struct cpuc_diagnosis {
  struct cpuc_machine *machine; /* in: what is known; open() adds what it finds */
  enum cpuc_reason reason; /* of a failure */
  const char *explanation; /* of a failure: a sentence */
  const char *remedy;      /* from explain(): a command or step that helps on this machine */
  const char *unit;        /* from open(), if it succeeds: replaces `unit` of the backend */
};

#endif
