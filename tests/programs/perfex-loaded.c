/* SPDX-License-Identifier: 0BSD OR MIT */
/* Module that check_perfex_events loads and unloads: libperfex's counters on a software event,
   which needs no PMU. Includes count.c to replace its table of events. */

#include "config.h"

#include "perfex/events.h"

#include <linux/perf_event.h>

static const struct pfx_event_row row_of_module
  = { "time", "time", "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK };

#define PFX_ROW(event) ((event) == 0 ? &row_of_module : NULL)
#include "perfex/count.c"
