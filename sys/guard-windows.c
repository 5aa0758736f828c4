/* SPDX-License-Identifier: 0BSD OR MIT */
/* The fault guard for Windows: a vectored exception handler turns faults of the calling thread into
   returned signal numbers. Windows calls this handler before all handlers that were installed
   earlier. The earlier handlers get all exceptions that this handler does not handle.
   Source: Microsoft, Windows documentation, "Vectored exception handling",
   AddVectoredExceptionHandler, RtlCaptureContext. */

#include "config.h"
#ifndef CPUCYCLES_POSIX

#include "sys/guard.h"
#include "sys/os-thread.h"

#include <signal.h>
#include <stddef.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Global, because the exception handler reads it. */
static struct {
  void *handler;
  volatile uintptr_t thread; /* ID of the thread that called cpuc_guard_enter(); 0: none */
  volatile int armed;        /* 1 while body() runs */
  volatile int caught;
  CONTEXT before_body;
} guard;

/* Returns the signal for this exception, or 0 if the guard does not handle it. */
static int signal_of(DWORD exception)
{
  switch (exception) {
  case EXCEPTION_ILLEGAL_INSTRUCTION:
  case EXCEPTION_PRIV_INSTRUCTION:
    return SIGILL;
  case EXCEPTION_ACCESS_VIOLATION:
  case EXCEPTION_DATATYPE_MISALIGNMENT:
  case EXCEPTION_IN_PAGE_ERROR:
    return SIGSEGV;
  case EXCEPTION_INT_DIVIDE_BY_ZERO:
  case EXCEPTION_INT_OVERFLOW:
  case EXCEPTION_FLT_DIVIDE_BY_ZERO:
  case EXCEPTION_FLT_INVALID_OPERATION:
    return SIGFPE;
  default:
    return 0;
  }
}

/* Restores the context from before the body, so that the thread continues in cpuc_guard_run() after
   the handler returns. The handler itself must not jump there. */
static LONG CALLBACK on_exception(EXCEPTION_POINTERS *exception)
{
  int signal = signal_of(exception->ExceptionRecord->ExceptionCode);

  if (signal == 0 || guard.thread != cpuc_os_thread_id() || !guard.armed)
    return EXCEPTION_CONTINUE_SEARCH;
  guard.armed = 0;
  guard.caught = signal;
  *exception->ContextRecord = guard.before_body;
  return EXCEPTION_CONTINUE_EXECUTION;
}

/* Installing the handler allocates memory. If the allocation fails, cpuc_guard_run() calls no body,
   and returns SIGSEGV. */
void cpuc_guard_enter(void)
{
  guard.armed = 0;
  guard.thread = cpuc_os_thread_id();
  guard.handler = AddVectoredExceptionHandler(1, on_exception);
}

void cpuc_guard_leave(void)
{
  if (guard.handler)
    RemoveVectoredExceptionHandler(guard.handler);
  guard.handler = NULL;
  guard.thread = 0; /* not the ID of any thread */
}

/* Windows has no fork. */
void cpuc_guard_forked(void)
{
}

/* RtlCaptureContext() returns a second time after a fault. From then on, this function uses only
   guard.caught, which is volatile. */
int cpuc_guard_run(void (*body)(void *), void *argument)
{
  if (guard.thread != cpuc_os_thread_id() || guard.armed) {
    body(argument);
    return 0;
  }
  guard.caught = guard.handler ? 0 : SIGSEGV;
  RtlCaptureContext(&guard.before_body);
  if (guard.caught == 0) {
    guard.armed = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    body(argument);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    guard.armed = 0;
  }
  return guard.caught;
}
#endif
