/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the calling thread caught, by a vectored exception handler. Windows
   calls it before all handlers of the program, and it passes on every other exception.
   Source: Microsoft, Windows documentation, "Vectored exception handling",
   AddVectoredExceptionHandler, RtlCaptureContext. */

#include "config.h"

#include "sys/guard.h"
#include "sys/os-thread.h"

#include <signal.h>
#include <stddef.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Global, because the exception handler reads it. */
static struct {
  void *handler;
  volatile uintptr_t thread; /* that called enter; 0: none */
  volatile int armed;        /* is body() running? */
  volatile int caught;
  CONTEXT before_body;
} guard;

/* The signal that the same fault raises on POSIX; 0: reading a counter raises no such fault. */
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

/* Makes the thread continue before the body, with a changed context: handlers must return, and may
   not jump. */
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

/* Installing the handler takes memory. If that fails, no body is safe, and all fail before they
   begin. */
void cpuc_guard_enter(void)
{
  guard.armed = 0;
  guard.thread = cpuc_os_thread_id();
  guard.handler = AddVectoredExceptionHandler(1, on_exception);
}

int cpuc_guard_leave(void)
{
  if (guard.handler)
    RemoveVectoredExceptionHandler(guard.handler);
  guard.handler = NULL;
  guard.thread = 0; /* no thread has this number */
  return 1;
}

/* Windows withdraws no counter that is in use. */
void cpuc_guard_keep(int (*fix_up)(void *context), int signal)
{
  (void)fix_up, (void)signal;
}

/* Windows has no fork. */
void cpuc_guard_forked(void)
{
}

/* RtlCaptureContext() returns a second time after a fault. The values needed then are volatile, or
   are live until body() returns and so are still in their places. */
int cpuc_guard_run(void (*body)(void *), void *argument)
{
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
