/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests that a thread's stack can be unwound through the library's frames, by cancellation and
   by a handler that ends the thread. The callers are C functions, with cleanup functions. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"

#include "tests/suites/child.h"

/* With other C libraries and on other CPUs, C is unwound only if the C library was built for
   unwinding. */
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))

#include <pthread.h>
#include <sys/time.h>

enum { RETURNED = 1, UNWOUND = 2 };

static void *(*thread_body)(void *);
static suseconds_t microseconds;
static int seen;

static void note_unwound(int *frame)
{
  (void)frame;
  seen |= UNWOUND;
}

static void *cancel_at_the_trace(void *unused)
{
  __attribute__((cleanup(note_unwound), unused)) int frame = 0;

  (void)unused;
  cpucycles_tracesetup();
  pthread_cancel(pthread_self());
  cpucycles(); /* prints the requested lines, which is a cancellation point */
  seen |= RETURNED;
  return NULL;
}

static void end_thread(int signal)
{
  (void)signal;
  pthread_exit(NULL);
}

/* The signal comes before, during or after the selection. A signal during the selection stays
   pending until the selection ends. */
static void call_until_ended(void)
{
  const struct itimerval soon = { { 0, 0 }, { 0, microseconds } };
  sigset_t none;

  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  setitimer(ITIMER_REAL, &soon, NULL);
  cpucycles();
  for (;;)
    pause();
}

/* A pointer, so that the compiler cannot see the called function. */
static void (*volatile call_opaquely)(void) = call_until_ended;

static void *end_by_a_handler(void *unused)
{
  __attribute__((cleanup(note_unwound), unused)) int frame = 0;

  (void)unused;
  call_opaquely();
  return NULL;
}

/* Runs the body in a thread of a child, because its call must be the first. Returns `seen`. */
static int run(void)
{
  pthread_t thread;
  sigset_t all;

  if (!freopen("/dev/null", "w", stdout) || setvbuf(stdout, NULL, _IONBF, 0) != 0)
    return 99;
  signal(SIGALRM, end_thread);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL); /* so that the other thread gets SIGALRM */
  pthread_create(&thread, NULL, thread_body, NULL);
  pthread_join(thread, NULL);
  return seen;
}

TEST(cancellation_at_the_trace_runs_the_callers_cleanup)
{
  thread_body = cancel_at_the_trace;
  ck_assert_int_eq(result_in_child(run), UNWOUND);
}

TEST(handler_of_a_signal_at_any_time_may_end_the_thread)
{
  struct suite_repeat repeat = suite_repeat(29);

  SKIP_IF(suite_under("qemu"), "qemu's frame of a signal cannot be unwound");
  SKIP_IF(SUITE_SANITIZED,
    "a sanitizer finds fault with what the C library does to end a thread in a handler");
  thread_body = end_by_a_handler;
  while (suite_again(&repeat)) { /* each seventh below 200, early and late ones mixed */
    microseconds = 1 + repeat.begun * 11 % 29 * 7;
    ck_assert_int_eq(result_in_child(run), UNWOUND);
  }
}

#else

SUITE_WITHOUT(frames_of_c, "they cannot be unwound on this CPU, or the C library does not do it")

#endif

SUITE("unwind")
