/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests trials under fault protection. The library catches every fault of the thread on trial.
   All other signals reach the application as without the library, and its signal dispositions
   are restored exactly. */

#include "config.h"

#include "sys/os-thread.h"
#include "sys/trial.h"

#include "tests/suites/suite.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#endif
#ifdef HAVE_LINUX_SECCOMP_H
#include "tests/suites/filter.h"

#include <errno.h>
#endif

static const int faults[] = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };

static volatile char *forbidden; /* a read raises SIGSEGV */
static long page;
static volatile char read_value; /* holds every value read, or an emulator may drop the read */

static void make_forbidden_page(void)
{
  page = sysconf(_SC_PAGESIZE);
  forbidden = mmap(NULL, (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne((void *)forbidden, MAP_FAILED);
}

/* A page that raises SIGBUS: mapped beyond the end of its file. NULL if the system maps no such
   page. */
static volatile char *map_page_beyond_end(void)
{
  FILE *empty = tmpfile();
  volatile char *beyond_end;

  ck_assert_ptr_nonnull(empty);
  beyond_end = mmap(NULL, (size_t)page, PROT_READ, MAP_SHARED, fileno(empty), 0);
  fclose(empty);
  return beyond_end == MAP_FAILED ? NULL : beyond_end;
}

static struct cpucycles_signal_state saved;

static void begin(void)
{
  cpucycles_block_signals(&saved);
  cpucycles_trial_begin(&saved);
}

static void end(void)
{
  cpucycles_trial_end();
  cpucycles_restore_signals(&saved);
  cpucycles_trial_replay();
}

static void read_page(void *address)
{
  (void)**(volatile char **)address;
}

/* An instruction that the CPU's manual reserves as undefined. The compiler's own trap raises
   SIGTRAP on many CPUs. */
#if defined(__i386__) || defined(__x86_64__)
#define UNDEFINED_INSTRUCTION "ud2"
#elif defined(__arm__)
#define UNDEFINED_INSTRUCTION "udf #0"
#elif defined(__aarch64__) || defined(__powerpc__) || defined(__riscv) || defined(__sparc__)
#define UNDEFINED_INSTRUCTION ".long 0"
#elif defined(__s390x__)
#define UNDEFINED_INSTRUCTION ".short 0"
#elif defined(__alpha__)
#define UNDEFINED_INSTRUCTION ".long 0x04000000"
#elif defined(__m68k__)
#define UNDEFINED_INSTRUCTION "illegal"
#endif

#ifdef UNDEFINED_INSTRUCTION
static void run_undefined(void *unused)
{
  (void)unused;
  __asm__ volatile(UNDEFINED_INSTRUCTION);
}
#endif

static void do_nothing(void *done)
{
  *(int *)done = 1;
}

START_TEST(fault_ends_the_trial_which_returns_its_signal)
{
  volatile char *beyond_end;
  int i, done = 0;

  make_forbidden_page();
  beyond_end = map_page_beyond_end();
  if (!beyond_end)
    skip("fault_ends_the_trial_which_returns_its_signal (SIGBUS)",
      "no empty file can be mapped here");
  begin();
  for (i = 0; i < 100; i++) {
    ck_assert_int_eq(cpucycles_trial(read_page, &forbidden), SIGSEGV);
    if (beyond_end)
      ck_assert_int_eq(cpucycles_trial(read_page, &beyond_end), SIGBUS);
  }
  ck_assert_int_eq(cpucycles_trial(do_nothing, &done), 0);
  ck_assert_int_eq(done, 1);
  end();
}
END_TEST

START_TEST(illegal_instruction_ends_the_trial)
{
#ifdef UNDEFINED_INSTRUCTION
  begin();
  ck_assert_int_eq(cpucycles_trial(run_undefined, NULL), SIGILL);
  ck_assert_int_eq(cpucycles_trial(run_undefined, NULL), SIGILL);
  end();
#else
  skip("illegal_instruction_ends_the_trial", "no undefined instruction of this CPU is known here");
#endif
}
END_TEST

START_TEST(blocked_fault_is_caught)
{
  sigset_t all, now;
  int i;

  make_forbidden_page();
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  begin();
  ck_assert_int_eq(cpucycles_trial(read_page, &forbidden), SIGSEGV);
  end();
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  for (i = 0; i < 5; i++)
    ck_assert_int_eq(sigismember(&now, faults[i]), 1);
  ck_assert_int_eq(sigismember(&now, SIGUSR1), 1);
}
END_TEST

static void handler_a(int signal)
{
  (void)signal;
}

static void handler_b(int signal, siginfo_t *info, void *context)
{
  (void)signal, (void)info, (void)context;
}

START_TEST(trial_restores_handlers_with_mask_and_flags)
{
  /* SIGSYS is never set */
  static const int flags[] = { 0, SA_NODEFER | SA_ONSTACK, SA_RESTART | SA_SIGINFO, SA_RESETHAND };
  struct sigaction set, before[5], after;
  int i, member;

  for (i = 0; i < 4; i++) {
    memset(&set, 0, sizeof set);
    set.sa_flags = flags[i];
    if (flags[i] & SA_SIGINFO)
      set.sa_sigaction = handler_b;
    else
      set.sa_handler = i == 0 ? SIG_IGN : handler_a;
    sigemptyset(&set.sa_mask);
    sigaddset(&set.sa_mask, SIGUSR1 + i);
    ck_assert_int_eq(sigaction(faults[i], &set, NULL), 0);
  }
  for (i = 0; i < 5; i++)
    sigaction(faults[i], NULL, &before[i]);
  make_forbidden_page();
  begin();
  ck_assert_int_eq(cpucycles_trial(read_page, &forbidden), SIGSEGV);
  end();
  /* ThreadSanitizer adds to the mask of a disposition that was never set. */
  for (i = 0; i < (suite_under("tsan") ? 4 : 5); i++) {
    sigaction(faults[i], NULL, &after);
    ck_assert_ptr_eq((void *)after.sa_handler, (void *)before[i].sa_handler);
    /* ignores the flag that a C library adds to every handler (asm/signal.h: SA_RESTORER) */
    ck_assert_int_eq(after.sa_flags & ~0x04000000, before[i].sa_flags & ~0x04000000);
    for (member = 1; member < SIGRTMAX; member++)
      ck_assert_int_eq(sigismember(&after.sa_mask, member),
        sigismember(&before[i].sa_mask, member));
  }
}
END_TEST

START_TEST(trial_restores_mask_and_cancellation_state)
{
  sigset_t usr1, now;
  int state;

  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  pthread_sigmask(SIG_SETMASK, &usr1, NULL);
  make_forbidden_page();
  begin();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  ck_assert_int_eq(state, PTHREAD_CANCEL_DISABLE);
  ck_assert_int_eq(cpucycles_trial(read_page, &forbidden), SIGSEGV);
  end();
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  ck_assert_int_eq(sigismember(&now, SIGUSR1), 1);
  ck_assert_int_eq(sigismember(&now, SIGUSR2), 0);
  ck_assert_int_eq(sigismember(&now, SIGSEGV), 0);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  ck_assert_int_eq(state, PTHREAD_CANCEL_ENABLE);
}
END_TEST

/* Values that the application's handler found. */
static volatile int seen_signal, seen_code, seen_value, seen_count, seen_masked;
static void *volatile seen_address;
static volatile int seen_context;

static void record_signal(int signal, siginfo_t *info, void *context)
{
  sigset_t mask;

  seen_signal = signal;
  seen_code = info->si_code;
  seen_address = info->si_addr;
  seen_value = info->si_value.sival_int;
  seen_context = context != NULL;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  seen_masked = sigismember(&mask, SIGUSR2);
  seen_count++;
  if (info->si_code > 0 && forbidden) /* a real fault would repeat: make the page readable */
    mprotect((void *)forbidden, (size_t)page, PROT_READ);
}

static void *fault_elsewhere(void *unused)
{
  (void)unused;
  return (void *)(long)*forbidden;
}

static void set_recording_handler(int signal, int flags)
{
  struct sigaction set;

  memset(&set, 0, sizeof set);
  set.sa_flags = flags | SA_SIGINFO;
  set.sa_sigaction = record_signal;
  sigemptyset(&set.sa_mask);
  sigaddset(&set.sa_mask, SIGUSR2);
  sigaction(signal, &set, NULL);
}

/* Is the handler's own mask in force while it runs? The system decides that; and qemu 7 takes a
   RISC-V handler's mask from the wrong place. */
static int has_masks_of_handlers(const char *test)
{
#ifdef __riscv
  return !skip_under("qemu", test, "(the handler's mask) qemu takes it from elsewhere on RISC-V");
#else
  (void)test;
  return 1;
#endif
}

/* The system chooses the code of a fault: emulators give SEGV_MAPERR on some CPUs. The test
   expects the same code as without a trial. */
START_TEST(fault_of_another_thread_reaches_the_application)
{
  pthread_t thread;
  int usual_code;

  if (skip_under("valgrind", "fault_of_another_thread_reaches_the_application",
        "valgrind takes the fault for an error of the program"))
    return;
  make_forbidden_page();
  set_recording_handler(SIGSEGV, 0);
  read_value = *forbidden;
  usual_code = seen_code;
  ck_assert_int_eq(seen_count, 1);
  ck_assert_int_eq(mprotect((void *)forbidden, (size_t)page, PROT_NONE), 0);
  begin();
  ck_assert_int_eq(pthread_create(&thread, NULL, fault_elsewhere, NULL), 0);
  pthread_join(thread, NULL);
  end();
  ck_assert_int_eq(seen_count, 2);
  ck_assert_int_eq(seen_signal, SIGSEGV);
  ck_assert_int_eq(seen_code, usual_code);
  ck_assert_ptr_eq(seen_address, (void *)forbidden);
  ck_assert_int_eq(seen_context, 1);
  if (has_masks_of_handlers("fault_of_another_thread_reaches_the_application"))
    ck_assert_int_eq(seen_masked, 1);
}
END_TEST

static int skip_without_values(const char *test)
{
  if (SIGNALS_CARRY_VALUES)
    return 0;
  skip(test, "this system has no sigqueue()");
  return 1;
}

static void queue_to_self(void *unused)
{
  union sigval value = { .sival_int = 4711 };

  (void)unused;
  sigqueue(getpid(), suite_fault_to_send(SIGSEGV), value);
}

START_TEST(signal_sent_to_the_thread_on_trial_reaches_the_application)
{
  if (skip_under("valgrind", "signal_sent_to_the_thread_on_trial_reaches_the_application",
        "valgrind delivers sent signals when it sees fit")
    || skip_without_values("signal_sent_to_the_thread_on_trial_reaches_the_application"))
    return;
  set_recording_handler(suite_fault_to_send(SIGSEGV), 0);
  begin();
  ck_assert_int_eq(cpucycles_trial(queue_to_self, NULL), 0);
  ck_assert_int_eq(cpucycles_trial(queue_to_self, NULL), 0);
  ck_assert_int_eq(seen_count, 0); /* not within the trial: a handler may do anything */
  end();
  ck_assert_int_eq(seen_count, 1); /* two were sent: pending signals merge */
  ck_assert_int_eq(seen_code, SI_QUEUE);
  ck_assert_int_eq(seen_value, 4711);
  if (has_masks_of_handlers("signal_sent_to_the_thread_on_trial_reaches_the_application"))
    ck_assert_int_eq(seen_masked, 1);
}
END_TEST

#ifdef __linux__

static void send_with_code(void *code)
{
  siginfo_t info;

  memset(&info, 0, sizeof info);
  info.si_signo = SIGBUS;
  info.si_code = *(int *)code;
  syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), SIGBUS, &info);
}

START_TEST(sent_signal_of_any_code_reaches_the_application)
{
  int codes[] = { -42, SI_USER, SI_TIMER, -5 /* SI_SIGIO */, SI_TKILL, 5 /* BUS_MCEERR_AO */ };
  int i;

  make_forbidden_page(); /* the handler makes it readable if it finds a positive code */
  if (skip_under("valgrind", "sent_signal_of_any_code_reaches_the_application",
        "valgrind delivers sent signals when it sees fit")
    || skip_under("qemu", "sent_signal_of_any_code_reaches_the_application",
      "the emulator translates codes"))
    return;
  set_recording_handler(SIGBUS, 0);
  for (i = 0; i < 6; i++) {
    begin();
    ck_assert_int_eq(cpucycles_trial(send_with_code, &codes[i]), 0);
    end();
    ck_assert_int_eq(seen_count, i + 1);
    ck_assert_int_eq(seen_code, codes[i]);
  }
}
END_TEST

START_TEST(trial_rearms_a_self_disarming_alternate_stack)
{
  static char memory[65536];
  stack_t stack, after;

  memset(&stack, 0, sizeof stack);
  stack.ss_sp = memory;
  stack.ss_size = sizeof memory;
  stack.ss_flags = (int)(1u << 31); /* SS_AUTODISARM */
  if (sigaltstack(&stack, NULL) != 0) {
    skip("trial_rearms_a_self_disarming_alternate_stack", "no SS_AUTODISARM here");
    return;
  }
  make_forbidden_page();
  set_recording_handler(SIGSEGV, SA_ONSTACK);
  begin();
  ck_assert_int_eq(cpucycles_trial(read_page, &forbidden), SIGSEGV);
  end();
  ck_assert_int_eq(sigaltstack(NULL, &after), 0);
  ck_assert_ptr_eq(after.ss_sp, memory);
  ck_assert_int_eq(after.ss_flags, stack.ss_flags);
}
END_TEST

static void *wait_for_byte(void *pipe_end)
{
  char byte;

  return read(*(int *)pipe_end, &byte, 1) == 1 ? pipe_end : NULL;
}

static void handle_quietly(int signal)
{
  (void)signal;
}

START_TEST(restarting_handler_still_restarts_the_system_call)
{
  struct timespec pause = { 0, 20000000 };
  struct sigaction set;
  int ends[2], i;
  pthread_t thread;
  void *result;

  memset(&set, 0, sizeof set);
  set.sa_handler = handle_quietly;
  set.sa_flags = SA_RESTART;
  sigaction(suite_fault_to_send(SIGBUS), &set, NULL);
  ck_assert_int_eq(pipe(ends), 0);
  begin();
  ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_byte, &ends[0]), 0);
  for (i = 0; i < 5; i++) {
    nanosleep(&pause, NULL); /* the thread is in read(2) again */
    pthread_kill(thread, suite_fault_to_send(SIGBUS));
  }
  ck_assert_int_eq(write(ends[1], "x", 1), 1);
  pthread_join(thread, &result);
  end();
  ck_assert_ptr_nonnull(result);
}
END_TEST

#endif

START_TEST(signal_blocked_by_the_thread_stays_pending)
{
  sigset_t blocked, pending;
  siginfo_t info;

  if (skip_under("valgrind", "signal_blocked_by_the_thread_stays_pending",
        "valgrind delivers sent signals when it sees fit")
    || skip_without_values("signal_blocked_by_the_thread_stays_pending"))
    return;
  set_recording_handler(suite_fault_to_send(SIGSEGV), 0);
  sigemptyset(&blocked);
  sigaddset(&blocked, suite_fault_to_send(SIGSEGV));
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  queue_to_self(NULL);
  begin();
  ck_assert_int_eq(seen_count, 0);
  end();
  ck_assert_int_eq(seen_count, 0);
  sigpending(&pending);
  ck_assert_int_eq(sigismember(&pending, suite_fault_to_send(SIGSEGV)), 1);
  ck_assert_int_eq(sigwaitinfo(&blocked, &info), suite_fault_to_send(SIGSEGV));
  ck_assert_int_eq(info.si_code, SI_QUEUE);
  ck_assert_int_eq(info.si_value.sival_int, 4711);
  ck_assert_int_eq(info.si_pid, getpid());
}
END_TEST

START_TEST(one_shot_handler_is_called_once)
{
  struct sigaction after;

  set_recording_handler(suite_fault_to_send(SIGSEGV), SA_RESETHAND);
  begin();
  queue_to_self(NULL);
  end();
  ck_assert_int_eq(seen_count, 1);
  sigaction(suite_fault_to_send(SIGSEGV), NULL, &after);
  ck_assert_ptr_eq((void *)after.sa_handler, (void *)SIG_DFL);
}
END_TEST

START_TEST(ignored_signal_stays_ignored)
{
  signal(suite_fault_to_send(SIGSEGV), SIG_IGN);
  begin();
  queue_to_self(NULL);
  end();
}
END_TEST

START_TEST(handler_set_during_the_trial_stays)
{
  struct sigaction after;

  begin();
  signal(SIGFPE, handler_a);
  end();
  sigaction(SIGFPE, NULL, &after);
  ck_assert_ptr_eq((void *)after.sa_handler, (void *)handler_a);
}
END_TEST

/* Status of a child that runs body within a trial. */
static int status_of(void (*body)(void))
{
  int status;
  pid_t child = fork();

  ck_assert_int_ge(child, 0);
  if (child == 0) {
    begin();
    body();
    end();
    suite_exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  return status;
}

static void die_of_fault_elsewhere(void)
{
  pthread_t thread;

  pthread_create(&thread, NULL, fault_elsewhere, NULL);
  pthread_join(thread, NULL);
}

static void die_of_signal(void)
{
  queue_to_self(NULL);
}

START_TEST(unhandled_fault_still_ends_the_process)
{
  int status;

  if (skip_under("valgrind", "unhandled_fault_still_ends_the_process",
        "valgrind reports the fault as an error of the program"))
    return;
  make_forbidden_page();
  signal(SIGSEGV, SIG_DFL);
  status = status_of(die_of_fault_elsewhere);
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
  status = status_of(die_of_signal);
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), suite_fault_to_send(SIGSEGV));
  signal(SIGSEGV, SIG_IGN); /* a fault cannot be ignored */
  status = status_of(die_of_fault_elsewhere);
  ck_assert(WIFSIGNALED(status));
  ck_assert_int_eq(WTERMSIG(status), SIGSEGV);
}
END_TEST

START_TEST(child_forked_during_a_trial_can_run_its_own_trial)
{
  int status, i;
  pid_t child;

  if (skip_under("valgrind", "child_forked_during_a_trial_can_run_its_own_trial",
        "valgrind delivers sent signals when it sees fit"))
    return;
  make_forbidden_page();
  set_recording_handler(SIGSEGV, 0);
  set_recording_handler(suite_fault_to_send(SIGSEGV), 0);
  begin();
  child = fork();
  if (child == 0) {
    struct sigaction after;

    begin();
    if (cpucycles_trial(read_page, &forbidden) != SIGSEGV)
      suite_exit(1);
    end();
    sigaction(SIGSEGV, NULL, &after);
    if (after.sa_sigaction != record_signal)
      suite_exit(2);
    for (i = 0; i < 10; i++)
      queue_to_self(NULL);
    suite_exit(seen_count == 10 ? 0 : 3);
  }
  waitpid(child, &status, 0);
  end();
  ck_assert(WIFEXITED(status));
  ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* This sigaction() replaces glibc's for the whole program and forks after the n-th call, as
   another thread may do at any point of a selection. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) \
  && !defined(__clang__)

static int calls_before_the_fork;
static pid_t forked_child;
static int handlers_stay, is_ending;

static int rescue_nothing(int signal, const void *info, void *context)
{
  (void)signal, (void)info, (void)context;
  return 0;
}

static void begin_and_keep(void)
{
  static const int kept[] = { SIGSEGV, 0 };

  begin();
  if (handlers_stay)
    cpucycles_trial_keep_handlers(rescue_nothing, kept);
}

/* With the mask of a thread that does not select. If the handlers stay, the program's is called
   once by a fault; a fork before the end of the trial may have lost it. */
static void try_in_the_child(void)
{
  sigset_t none;
  int caught;

  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  begin_and_keep();
  caught = cpucycles_trial(read_page, &forbidden);
  end();
  if (handlers_stay && is_ending)
    read_value = *forbidden;
  suite_exit(caught != SIGSEGV || seen_count != (handlers_stay && is_ending));
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
  static int (*real)(int, const struct sigaction *, struct sigaction *);
  int result;

  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
  result = real(signal, action, old);
  if (calls_before_the_fork > 0 && --calls_before_the_fork == 0) {
    forked_child = fork();
    if (forked_child == 0)
      try_in_the_child();
  }
  return result;
}

/* _i: whether the program has a handler; 2: and handlers stay. */
START_TEST(child_forked_at_any_call_of_a_trial_can_run_its_own)
{
  int n, status;

  if (_i == 2
    && skip_under("valgrind", "child_forked_at_any_call_of_a_trial_can_run_its_own",
      "(handlers that stay) valgrind does not keep all registers for a handler that returns"))
    return;
  make_forbidden_page();
  if (_i)
    set_recording_handler(SIGSEGV, 0);
  handlers_stay = _i == 2;
  for (n = 1;; n++) {
    forked_child = 0;
    calls_before_the_fork = n;
    is_ending = 0;
    begin_and_keep();
    is_ending = 1;
    end();
    if (handlers_stay) /* as before the selection */
      set_recording_handler(SIGSEGV, 0);
    if (forked_child == 0)
      break;
    ck_assert_int_eq(waitpid(forked_child, &status, 0), forked_child);
    ck_assert_msg(status == 0, "after call %d: status %x", n, (unsigned)status);
  }
  ck_assert_int_gt(n, 10);
}
END_TEST

#else

START_TEST(child_forked_at_any_call_of_a_trial_can_run_its_own)
{
  skip("child_forked_at_any_call_of_a_trial_can_run_its_own",
    "the program's own sigaction() stands in for glibc's, compiled by GCC without a sanitizer");
}
END_TEST

#endif

/* Handlers that stay installed after the trial, for the selected counter. */

static volatile int rescued;

static int rescue_page(int signal, const void *info, void *context)
{
  const siginfo_t *fault = info;

  (void)context;
  if (signal != SIGSEGV || fault->si_addr != (void *)forbidden)
    return 0;
  mprotect((void *)forbidden, (size_t)page, PROT_READ);
  rescued++;
  return 1;
}

static volatile char *unrescued; /* another page without access */

static const int rescued_signals[] = { SIGILL, SIGBUS, SIGSEGV, 0 };

static void install_lasting_handlers(void)
{
  make_forbidden_page();
  unrescued = forbidden;
  make_forbidden_page();
  begin();
  cpucycles_trial_keep_handlers(rescue_page, rescued_signals);
  end();
}

START_TEST(counters_own_fault_is_rescued_after_the_trial)
{
  if (skip_under("valgrind", "counters_own_fault_is_rescued_after_the_trial",
        "valgrind takes the fault for an error of the program"))
    return;
  install_lasting_handlers();
  read_value = *forbidden;
  ck_assert_int_eq(rescued, 1);
}
END_TEST

static void *touch_forbidden(void *unused)
{
  (void)unused;
  read_value = *forbidden;
  return NULL;
}

START_TEST(counters_own_fault_is_rescued_in_every_thread)
{
  pthread_t thread;

  if (skip_under("valgrind", "counters_own_fault_is_rescued_in_every_thread",
        "valgrind takes the fault for an error of the program"))
    return;
  install_lasting_handlers();
  ck_assert_int_eq(pthread_create(&thread, NULL, touch_forbidden, NULL), 0);
  pthread_join(thread, NULL);
  ck_assert_int_eq(rescued, 1);
}
END_TEST

static sigjmp_buf out;
static volatile int code_seen, signal_seen;

static void jump_out(int signal, siginfo_t *info, void *context)
{
  (void)context;
  signal_seen = signal;
  code_seen = info->si_code;
  siglongjmp(out, 1);
}

START_TEST(unrescued_fault_reaches_the_application)
{
  struct sigaction action;

  if (skip_under("valgrind", "unrescued_fault_reaches_the_application",
        "valgrind takes the fault for an error of the program"))
    return;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = jump_out;
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  ck_assert_int_eq(sigaction(SIGBUS, &action, NULL), 0);
  install_lasting_handlers();
  if (!sigsetjmp(out, 1))
    read_value = *unrescued;
  ck_assert_int_eq(signal_seen, SIGSEGV);
  ck_assert_int_gt(code_seen, 0);
  if (!sigsetjmp(out, 1))
    raise(SIGSEGV);
  ck_assert_int_le(code_seen, 0);
  if (!sigsetjmp(out, 1))
    raise(SIGBUS);
  ck_assert_int_eq(signal_seen, SIGBUS);
  ck_assert_int_eq(rescued, 0);
}
END_TEST

static void die_of_unrescued_fault(void)
{
  signal(SIGSEGV, SIG_DFL);
  install_lasting_handlers();
  read_value = *unrescued;
}

static void die_of_raised_signal(void)
{
  signal(SIGILL, SIG_DFL);
  install_lasting_handlers();
  raise(SIGILL);
}

START_TEST(unhandled_fault_still_ends_the_process_after_the_trial)
{
  if (skip_under("valgrind", "unhandled_fault_still_ends_the_process_after_the_trial",
        "valgrind reports the fault as an error of the program"))
    return;
  ck_assert_int_eq(status_of(die_of_unrescued_fault), SIGSEGV);
  ck_assert_int_eq(status_of(die_of_raised_signal), SIGILL);
}
END_TEST

START_TEST(handler_set_later_replaces_the_librarys)
{
  struct sigaction action;

  install_lasting_handlers();
  memset(&action, 0, sizeof action);
  action.sa_handler = handler_a;
  ck_assert_int_eq(sigaction(SIGSEGV, &action, NULL), 0);
  ck_assert_int_eq(sigaction(SIGSEGV, NULL, &action), 0);
  ck_assert_ptr_eq(action.sa_handler, handler_a);
  /* handlers that the program did not replace are still installed */
  ck_assert_int_eq(sigaction(SIGBUS, NULL, &action), 0);
  ck_assert(action.sa_flags & SA_SIGINFO);
}
END_TEST

static struct sigaction handler_found;
static volatile int rounds;

static void call_found_handler(int signal, siginfo_t *info, void *context)
{
  if (++rounds > 10)
    suite_exit(42);
  handler_found.sa_sigaction(signal, info, context);
}

static void die_through_chain(void)
{
  struct sigaction action;

  signal(SIGSEGV, SIG_DFL);
  install_lasting_handlers();
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = call_found_handler;
  sigaction(SIGSEGV, &action, &handler_found);
  read_value = *unrescued;
}

START_TEST(handler_that_calls_the_librarys_is_not_called_back)
{
  if (skip_under("valgrind", "handler_that_calls_the_librarys_is_not_called_back",
        "valgrind takes the fault for an error of the program"))
    return;
  ck_assert_int_eq(status_of(die_through_chain), SIGSEGV);
}
END_TEST

/* Three handlers of the program, each set while the previous one is installed: before, during
   and after the trial. Each calls the action that it replaced, as in a program with several
   libraries that install handlers; the first ends the fault. */
static struct sigaction replaced[3];
static volatile int calls[3];

static void handle_first(int signal, siginfo_t *info, void *context)
{
  (void)signal, (void)info, (void)context;
  calls[0]++;
  mprotect((void *)unrescued, (size_t)page, PROT_READ);
}

static void call_replaced(int i, int signal, siginfo_t *info, void *context)
{
  if (++calls[i] > 10)
    suite_exit(42);
  if (replaced[i].sa_flags & SA_SIGINFO)
    replaced[i].sa_sigaction(signal, info, context);
}

static void handle_second(int signal, siginfo_t *info, void *context)
{
  call_replaced(1, signal, info, context);
}

static void handle_third(int signal, siginfo_t *info, void *context)
{
  call_replaced(2, signal, info, context);
}

static void set_handler(int i, void (*handler)(int, siginfo_t *, void *))
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = handler;
  ck_assert_int_eq(sigaction(SIGSEGV, &action, &replaced[i]), 0);
}

static void *touch_unrescued(void *unused)
{
  read_value = *unrescued;
  return unused;
}

/* Faults once, in another thread if wanted, and expects these numbers of calls. */
static void expect_calls(int elsewhere, int first, int second, int third)
{
  pthread_t thread;

  calls[0] = calls[1] = calls[2] = 0;
  ck_assert_int_eq(mprotect((void *)unrescued, (size_t)page, PROT_NONE), 0);
  if (elsewhere) {
    ck_assert_int_eq(pthread_create(&thread, NULL, touch_unrescued, NULL), 0);
    pthread_join(thread, NULL);
  } else
    read_value = *unrescued;
  ck_assert_int_eq(calls[0], first);
  ck_assert_int_eq(calls[1], second);
  ck_assert_int_eq(calls[2], third);
}

/* _i: whether the library's handlers stay after the trial. */
START_TEST(each_of_three_handlers_in_a_row_is_called_once)
{
  const char *test = "each_of_three_handlers_in_a_row_is_called_once";

  if (skip_under("valgrind", test, "valgrind takes the fault for an error of the program")
    || skip_under("qemu", test, "a thread may still read a page that another has just protected"))
    return;
  make_forbidden_page();
  unrescued = forbidden;
  make_forbidden_page();
  set_handler(0, handle_first);
  expect_calls(1, 1, 0, 0);
  begin();
  expect_calls(1, 1, 0, 0);
  set_handler(1, handle_second);
  expect_calls(1, 1, 1, 0);
  ck_assert_int_eq(cpucycles_trial(read_page, &forbidden), SIGSEGV);
  ck_assert_int_eq(calls[0], 1);
  if (_i)
    cpucycles_trial_keep_handlers(rescue_page, rescued_signals);
  end();
  expect_calls(1, 1, 1, 0);
  expect_calls(0, 1, 1, 0);
  set_handler(2, handle_third);
  expect_calls(1, 1, 1, 1);
  expect_calls(0, 1, 1, 1);
  ck_assert_int_eq(rescued, 0);
  if (_i)
    read_value = *forbidden;
  ck_assert_int_eq(rescued, _i);
}
END_TEST

#ifdef __linux__

/* The last signal before a child's end, as a debugger or a crash reporter would find it. */
static siginfo_t crash_of(void (*crash)(void), int *end)
{
  siginfo_t info;
  int status;
  pid_t child = fork();

  memset(&info, 0, sizeof info);
  ck_assert_int_ge(child, 0);
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    crash();
    suite_exit(0);
  }
  *end = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    ptrace(PTRACE_GETSIGINFO, child, NULL, &info);
    ptrace(PTRACE_CONT, child, NULL, (void *)(long)WSTOPSIG(status));
  }
  if (WIFSIGNALED(status))
    *end = WTERMSIG(status);
  return info;
}

static void die_of_a_trap(void)
{
  raise(SIGTRAP);
}

static int can_trace(const char *test)
{
  siginfo_t info;
  int end;

  if (SUITE_SANITIZED)
    skip(test, "the sanitizer has handlers of its own");
  if (SUITE_SANITIZED || skip_under("valgrind", test, "valgrind cannot be traced")
    || skip_under("qemu", test, "qemu does not emulate ptrace"))
    return 0;
  info = crash_of(die_of_a_trap, &end);
  if (end == SIGTRAP && info.si_signo == SIGTRAP)
    return 1;
  skip(test, "this system does not let a child be traced");
  return 0;
}

static void crash_after_the_trial(void)
{
  signal(SIGSEGV, SIG_DFL);
  install_lasting_handlers();
  read_value = *unrescued;
}

static void crash_during_the_trial(void)
{
  signal(SIGSEGV, SIG_DFL);
  make_forbidden_page();
  unrescued = forbidden;
  begin();
  read_value = *unrescued; /* outside of cpucycles_trial(): the fault is the program's */
}

static void expect_own_cause(void (*crash)(void))
{
  siginfo_t info;
  int end;

  info = crash_of(crash, &end);
  ck_assert_int_eq(end, SIGSEGV);
  ck_assert_int_eq(info.si_signo, SIGSEGV);
  ck_assert_int_eq(info.si_code, SEGV_ACCERR);
  ck_assert_ptr_ne(info.si_addr, NULL);
}

START_TEST(crash_after_the_trial_shows_its_own_cause)
{
  if (can_trace("crash_after_the_trial_shows_its_own_cause"))
    expect_own_cause(crash_after_the_trial);
}
END_TEST

START_TEST(crash_during_the_trial_shows_its_own_cause)
{
  if (can_trace("crash_during_the_trial_shows_its_own_cause"))
    expect_own_cause(crash_during_the_trial);
}
END_TEST

#else

START_TEST(crash_after_the_trial_shows_its_own_cause)
{
  skip("crash_after_the_trial_shows_its_own_cause", "the test knows Linux's ptrace only");
}
END_TEST

#define crash_during_the_trial_shows_its_own_cause crash_after_the_trial_shows_its_own_cause

#endif

#ifdef HAVE_LINUX_SECCOMP_H

/* Status of a child that runs body; -1, and a skip reported, where there are no filters. */
static int status_filtered(const char *test, void (*body)(void))
{
  int status;
  pid_t child = fork();

  ck_assert_int_ge(child, 0);
  if (child == 0) {
    body();
    suite_exit(0);
  }
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != NO_FILTERS)
    return status;
  skip(test, "this kernel or emulator takes no seccomp filter");
  return -1;
}

static void die_of_a_filtered_call(void)
{
  static const int call[] = { SYS_getppid };

  signal(SIGSYS, SIG_DFL);
  if (set_filter(call, 1, SECCOMP_RET_TRAP) != 0)
    suite_exit(NO_FILTERS);
  begin();
  syscall(SYS_getppid); /* outside of cpucycles_trial(): the fault is the program's */
}

START_TEST(filtered_system_call_still_ends_the_process)
{
  const char *test = "filtered_system_call_still_ends_the_process";
  int status;

  if (skip_under("valgrind", test, "valgrind makes the system calls in its own code"))
    return;
  status = status_filtered(test, die_of_a_filtered_call);
  if (status != -1)
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}
END_TEST

static void sleep_until_signal(void *unused)
{
  const struct timespec pause = { 10, 0 };

  (void)unused;
  if (nanosleep(&pause, NULL) == 0)
    suite_exit(3); /* no signal came */
}

/* Another process sends a signal during the trial, and a filter refuses to send it again. */
static void send_signal_while_filtered(const int *refused, int count)
{
  pid_t self = getpid(), sender;
  int ends[2];

  set_recording_handler(SIGSEGV, 0);
  if (pipe(ends) != 0)
    suite_exit(2);
  sender = fork();
  if (sender == 0) {
    const struct timespec pause = { 0, 50000000 };
    char byte;

    alarm(20);
    if (read(ends[0], &byte, 1) != 1)
      _exit(1);
    while (kill(self, 0) == 0 && getppid() == self) {
      nanosleep(&pause, NULL); /* until the trial sleeps */
      kill(self, SIGSEGV);
    }
    _exit(0);
  }
  if (set_filter(refused, count, SECCOMP_RET_ERRNO | EPERM) != 0)
    suite_exit(NO_FILTERS);
  cpucycles_block_signals(&saved);
  cpucycles_trial_begin(&saved);
  if (write(ends[1], "x", 1) != 1)
    suite_exit(2);
  cpucycles_trial(sleep_until_signal, NULL);
  cpucycles_trial_end();
  cpucycles_restore_signals(&saved);
  cpucycles_trial_replay();
  if (seen_count < 1 || seen_signal != SIGSEGV || !seen_context)
    suite_exit(4);
  /* The thread sends the signal to itself. If it may not, the handler gets the code of kill(). */
  suite_exit(seen_code == (count > 2 ? SI_USER : SI_TKILL) ? 0 : 5);
}

static void send_without_queueing_calls(void)
{
  static const int refused[] = { SYS_rt_tgsigqueueinfo, SYS_rt_sigqueueinfo };

  send_signal_while_filtered(refused, 2);
}

static void send_with_no_call(void)
{
  static const int refused[] = { SYS_rt_tgsigqueueinfo, SYS_rt_sigqueueinfo, SYS_kill, SYS_tkill,
    SYS_tgkill };

  send_signal_while_filtered(refused, 5);
}

START_TEST(signal_that_cannot_be_sent_again_is_still_delivered)
{
  const char *test = "signal_that_cannot_be_sent_again_is_still_delivered";
  int status;

  if (skip_under("valgrind", test, "valgrind takes a SIGSEGV that is sent for one of its own"))
    return;
  status = status_filtered(test, _i ? send_with_no_call : send_without_queueing_calls);
  if (status != -1)
    ck_assert_msg(status == 0, "status %x", (unsigned)status);
}
END_TEST

#else

START_TEST(filtered_system_call_still_ends_the_process)
{
  skip("filtered_system_call_still_ends_the_process", "this system has no seccomp filters");
}
END_TEST

START_TEST(signal_that_cannot_be_sent_again_is_still_delivered)
{
  skip("signal_that_cannot_be_sent_again_is_still_delivered",
    "this system has no seccomp filters");
}
END_TEST

#endif

/* Two signals arrive; the handler of one leaves by a jump. */
static void count_and_return(int signal)
{
  (void)signal;
  seen_count++;
}

static void count_and_jump(int signal)
{
  (void)signal;
  seen_count++;
  siglongjmp(out, 1);
}

static void send_two(void *unused)
{
  (void)unused;
  raise(SIGFPE);
  raise(SIGSYS);
}

START_TEST(jump_out_of_a_handler_loses_no_other_signal)
{
  const char *test = "jump_out_of_a_handler_loses_no_other_signal";
  struct sigaction action;

  if (skip_under("qemu", test, "qemu keeps all but one of these signals for itself")
    || skip_under("valgrind", test, "valgrind delivers sent signals when it sees fit"))
    return;
  /* Each handler blocks the other signal: a handler that the system had interrupted at its start
     would be lost in the jump. */
  memset(&action, 0, sizeof action);
  sigfillset(&action.sa_mask);
  action.sa_handler = _i ? count_and_return : count_and_jump;
  sigaction(SIGFPE, &action, NULL);
  action.sa_handler = _i ? count_and_jump : count_and_return;
  sigaction(SIGSYS, &action, NULL);
  if (sigsetjmp(out, 1) == 0) {
    begin();
    ck_assert_int_eq(cpucycles_trial(send_two, NULL), 0);
    end();
  }
  ck_assert_int_eq(seen_count, 2);
}
END_TEST

/* Stacks: the thread's own, and an alternate one above or below it. */

#ifdef __linux__

enum { STACK = 1 << 20, ALTERNATE = 1 << 16 };

static char *all_stacks; /* alternate, the thread's own, alternate */
static int stack_flags;

static void *fault_with_an_alternate_stack(void *above)
{
  stack_t stack, later;
  int result;

  memset(&stack, 0, sizeof stack);
  stack.ss_sp = above ? all_stacks + ALTERNATE + STACK : all_stacks;
  stack.ss_size = ALTERNATE;
  stack.ss_flags = stack_flags;
  if (sigaltstack(&stack, NULL) != 0)
    return NULL;
  begin();
  result = cpucycles_trial(read_page, &forbidden) == SIGSEGV
    && cpucycles_trial(read_page, &forbidden) == SIGSEGV;
  end();
  sigaltstack(NULL, &later);
  result = result && later.ss_sp == stack.ss_sp && later.ss_flags == stack_flags;
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, NULL);
  return result ? &all_stacks : NULL;
}

/* Bit 0 of _i: above or below. Bit 1: it disarms itself (SS_AUTODISARM). */
START_TEST(fault_is_caught_on_any_alternate_stack)
{
  pthread_attr_t attributes;
  pthread_t thread;
  void *succeeded;

  const char *test = "fault_is_caught_on_any_alternate_stack";

  if (SUITE_SANITIZED)
    skip(test, "the sanitizer has an alternate stack of its own");
  if (SUITE_SANITIZED || skip_under("valgrind", test, "valgrind takes stacks for its own")
    || (_i & 2 && skip_under("qemu", test, "qemu's stacks do not disarm themselves as Linux's do")))
    return;
  make_forbidden_page();
  set_recording_handler(SIGSEGV, SA_ONSTACK);
  stack_flags = _i & 2 ? (int)(1u << 31) : 0;
  all_stacks = mmap(NULL, STACK + 2 * ALTERNATE, PROT_READ | PROT_WRITE,
    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(all_stacks, MAP_FAILED);
  pthread_attr_init(&attributes);
  ck_assert_int_eq(pthread_attr_setstack(&attributes, all_stacks + ALTERNATE, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &attributes, fault_with_an_alternate_stack,
    _i & 1 ? all_stacks : NULL), 0);
  pthread_join(thread, &succeeded);
  ck_assert_ptr_nonnull(succeeded);
}
END_TEST

#endif

START_TEST(ignored_and_unneeded_signals_get_no_lasting_handler)
{
  struct sigaction action;

  signal(SIGBUS, SIG_IGN);
  signal(SIGFPE, SIG_DFL);
  signal(SIGSYS, SIG_DFL);
  install_lasting_handlers();
  ck_assert_int_eq(sigaction(SIGBUS, NULL, &action), 0);
  ck_assert_ptr_eq(action.sa_handler, SIG_IGN);
  ck_assert_int_eq(sigaction(SIGFPE, NULL, &action), 0);
  ck_assert_ptr_eq(action.sa_handler, SIG_DFL);
  ck_assert_int_eq(sigaction(SIGSYS, NULL, &action), 0);
  ck_assert_ptr_eq(action.sa_handler, SIG_DFL);
}
END_TEST

static void add(TCase *tests)
{
  tcase_add_test(tests, counters_own_fault_is_rescued_after_the_trial);
  tcase_add_test(tests, counters_own_fault_is_rescued_in_every_thread);
  tcase_add_test(tests, unrescued_fault_reaches_the_application);
  tcase_add_test(tests, unhandled_fault_still_ends_the_process_after_the_trial);
  tcase_add_test(tests, handler_set_later_replaces_the_librarys);
  tcase_add_loop_test(tests, each_of_three_handlers_in_a_row_is_called_once, 0, 2);
  tcase_add_test(tests, crash_after_the_trial_shows_its_own_cause);
  tcase_add_test(tests, crash_during_the_trial_shows_its_own_cause);
  tcase_add_test(tests, filtered_system_call_still_ends_the_process);
  tcase_add_loop_test(tests, signal_that_cannot_be_sent_again_is_still_delivered, 0, 2);
  tcase_add_loop_test(tests, jump_out_of_a_handler_loses_no_other_signal, 0, 2);
  tcase_add_test(tests, handler_that_calls_the_librarys_is_not_called_back);
  tcase_add_test(tests, ignored_and_unneeded_signals_get_no_lasting_handler);
  tcase_add_test(tests, fault_ends_the_trial_which_returns_its_signal);
  tcase_add_test(tests, illegal_instruction_ends_the_trial);
  tcase_add_test(tests, blocked_fault_is_caught);
  tcase_add_test(tests, trial_restores_handlers_with_mask_and_flags);
  tcase_add_test(tests, trial_restores_mask_and_cancellation_state);
  tcase_add_test(tests, fault_of_another_thread_reaches_the_application);
  tcase_add_test(tests, signal_sent_to_the_thread_on_trial_reaches_the_application);
#ifdef __linux__
  tcase_add_test(tests, sent_signal_of_any_code_reaches_the_application);
  tcase_add_test(tests, trial_rearms_a_self_disarming_alternate_stack);
  tcase_add_loop_test(tests, fault_is_caught_on_any_alternate_stack, 0, 4);
  tcase_add_test(tests, restarting_handler_still_restarts_the_system_call);
#endif
  tcase_add_test(tests, signal_blocked_by_the_thread_stays_pending);
  tcase_add_test(tests, one_shot_handler_is_called_once);
  tcase_add_test(tests, ignored_signal_stays_ignored);
  tcase_add_test(tests, handler_set_during_the_trial_stays);
  tcase_add_test(tests, unhandled_fault_still_ends_the_process);
  tcase_add_test(tests, child_forked_during_a_trial_can_run_its_own_trial);
  tcase_add_loop_test(tests, child_forked_at_any_call_of_a_trial_can_run_its_own, 0, 3);
}

int main(void)
{
  return suite_main("trial", add);
}
