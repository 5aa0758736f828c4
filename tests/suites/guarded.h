/* SPDX-License-Identifier: 0BSD OR MIT */
/* Enters and leaves the fault guard as the selection does. */

#ifndef CPUCYCLES_GUARDED_H
#define CPUCYCLES_GUARDED_H

#include "sys/guard.h"
#include "sys/os-thread.h"

static struct cpuc_os_thread_saved outside_guard;

static inline void enter_guard(void)
{
  cpuc_os_thread_block_signals_and_cancellation(&outside_guard);
  cpuc_guard_enter();
}

static inline void leave_guard(void)
{
  cpuc_guard_leave();
  cpuc_os_thread_restore_signals_and_cancellation(&outside_guard);
}

#endif
