/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the calling thread caught, by a vectored exception handler. Windows
   calls it before all handlers of the program, and it passes on every other exception. Only one
   thread at a time may run trials.
   Source: Microsoft, Windows documentation, "Vectored exception handling",
   AddVectoredExceptionHandler, RtlCaptureContext. */

#include "config.h"

#include "sys/trial.h"

#include <signal.h>
#include <stddef.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* Global, because the exception handler reads it. */
static struct {
  void *handler;
  volatile uintptr_t thread; /* the thread that runs trials; 0: none */
  volatile int armed;        /* is body() running? */
  volatile int caught;
  CONTEXT before_body;
} trial;

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

/* Makes the thread continue at the beginning of the trial, by a changed context: handlers must
   return, and may not jump. */
static LONG CALLBACK on_exception(EXCEPTION_POINTERS *exception)
{
  int signal = signal_of(exception->ExceptionRecord->ExceptionCode);

  if (signal == 0 || trial.thread != cpucycles_thread_self() || !trial.armed)
    return EXCEPTION_CONTINUE_SEARCH;
  trial.armed = 0;
  trial.caught = signal;
  *exception->ContextRecord = trial.before_body;
  return EXCEPTION_CONTINUE_EXECUTION;
}

/* Threads of Windows have neither signals nor cancellation. */
void cpucycles_block_signals(struct cpucycles_signal_state *saved)
{
  saved->unused = 0;
}

void cpucycles_restore_signals(const struct cpucycles_signal_state *saved)
{
  (void)saved;
}

/* Installing the handler takes memory. If that fails, no trial is safe, and all fail before they
   begin. */
void cpucycles_trial_begin(const struct cpucycles_signal_state *saved)
{
  (void)saved;
  trial.armed = 0;
  trial.thread = cpucycles_thread_self();
  trial.handler = AddVectoredExceptionHandler(1, on_exception);
}

void cpucycles_trial_end(void)
{
  if (trial.handler)
    RemoveVectoredExceptionHandler(trial.handler);
  trial.handler = NULL;
  trial.thread = 0; /* no thread has this number */
}

/* Windows withdraws no counter that is in use. */
void cpucycles_trial_keep_handlers(int (*rescue)(int signal, const void *info, void *context),
  const int *signals)
{
  (void)rescue, (void)signals;
}

/* Windows sends no signals. */
void cpucycles_trial_replay(void)
{
}

/* RtlCaptureContext() returns a second time after a fault. The values needed then are volatile, or
   are live until body() returns and so are still in their places. */
int cpucycles_trial(void (*body)(void *), void *argument)
{
  trial.caught = trial.handler ? 0 : SIGSEGV;
  RtlCaptureContext(&trial.before_body);
  if (trial.caught == 0) {
    trial.armed = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    body(argument);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    trial.armed = 0;
  }
  return trial.caught;
}
