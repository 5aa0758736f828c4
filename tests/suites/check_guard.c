/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the fault guard: faults of the guarded body are caught. All other faults and signals reach
   the program as without the library. After the guard is left, the program's handlers are those
   from before the guard, except for a handler that the program has installed since. */

#include "config.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/wait.h>
#ifdef __linux__
#include <sys/ptrace.h>
#include <sys/syscall.h>
#endif

static volatile char *forbidden; /* a read raises SIGSEGV */
static volatile char read_value; /* holds every value read, so that no emulator drops the read */

static volatile int seen_signal, seen_code, seen_count, seen_masked, seen_context;
static void *volatile seen_address;

static void record_signal(int signal, siginfo_t *info, void *context)
{
  sigset_t mask;

  seen_signal = signal;
  seen_code = info->si_code;
  seen_address = info->si_addr;
  seen_context = context != NULL;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  seen_masked = sigismember(&mask, SIGUSR2);
  seen_count++;
  if (signal == SIGSEGV) /* without this, a fault would repeat */
    mprotect((void *)forbidden, (size_t)sysconf(_SC_PAGESIZE), PROT_READ);
}

static void set_recording_handler(int signal, int flags)
{
  struct sigaction set = { .sa_sigaction = record_signal, .sa_flags = flags | SA_SIGINFO };

  sigaddset(&set.sa_mask, SIGUSR2);
  sigaction(signal, &set, NULL);
}

/* Returns a page that raises SIGBUS, because it is mapped beyond the end of its file. Returns NULL
   if the system maps no such page. */
static volatile char *map_page_beyond_end(void)
{
  FILE *empty = tmpfile();
  volatile char *beyond_end;

  ck_assert_ptr_nonnull(empty);
  beyond_end = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fileno(empty), 0);
  fclose(empty);
  return beyond_end == MAP_FAILED ? NULL : beyond_end;
}

static void read_page(void *address)
{
  read_value = suite_read(*(volatile char **)address);
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
#else
#define UNDEFINED_INSTRUCTION ""
#endif

BODY(run_undefined, __asm__ volatile(UNDEFINED_INSTRUCTION))

static int undefined_instruction_faults(void)
{
  run_undefined(NULL);
  return 0;
}

static void fault_in_a_part(void *done)
{
  ck_assert_int_eq(cpuc_guard_run(read_page, &forbidden), SIGSEGV);
  ck_assert_int_eq(cpuc_guard_run(set_done, done), 0);
  read_page(&forbidden);
}

/* Faults of the body. */

TEST(fault_ends_the_body_and_its_signal_is_returned)
{
  volatile char *beyond_end = map_page_beyond_end();
  int i, done = 0, has_undefined;

  has_undefined = result_in_child(undefined_instruction_faults) == -SIGILL;
  if (!has_undefined)
    skip_part("(SIGILL) no instruction raises it");
  if (!beyond_end)
    skip_part("(SIGBUS) no empty file can be mapped here");
  enter_guard();
  for (i = 0; i < 100; i++) {
    ck_assert_int_eq(cpuc_guard_run(read_page, &forbidden), SIGSEGV);
    if (beyond_end)
      ck_assert_int_eq(cpuc_guard_run(read_page, &beyond_end), SIGBUS);
    if (has_undefined)
      ck_assert_int_eq(cpuc_guard_run(run_undefined, NULL), SIGILL);
  }
  ck_assert_int_eq(cpuc_guard_run(set_done, &done), 0);
  ck_assert_int_eq(done, 1);
  /* a part of a body ends alone, and the rest of the body is still guarded */
  done = 0;
  ck_assert_int_eq(cpuc_guard_run(fault_in_a_part, &done), SIGSEGV);
  ck_assert_int_eq(done, 1);
  leave_guard();
}

#ifdef __linux__

enum { STACK = 1 << 20, ALTERNATE = 1 << 16 };

static char *all_stacks; /* an alternate stack, the thread's own stack, an alternate stack */

static void *fault_with_an_alternate_stack(void *above)
{
  stack_t stack = { .ss_sp = all_stacks + (above ? ALTERNATE + STACK : 0), .ss_size = ALTERNATE };
  int is_caught;

  if (sigaltstack(&stack, NULL) != 0)
    return NULL;
  enter_guard();
  is_caught = cpuc_guard_run(read_page, &forbidden) == SIGSEGV
    && cpuc_guard_run(read_page, &forbidden) == SIGSEGV;
  leave_guard();
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, NULL);
  return is_caught ? &all_stacks : NULL;
}

/* _i: whether the alternate stack is above the thread's own stack. Both are tested because a build
   with _FORTIFY_SOURCE checks the direction of jumps. */
TEST_LOOP(fault_is_caught_on_any_alternate_stack, 2)
{
  pthread_attr_t attributes;
  pthread_t thread;
  void *succeeded;

  SKIP_IF(SUITE_SANITIZED, "the sanitizer has an alternate stack of its own");
  SKIP_IF(suite_under("valgrind"), "valgrind takes stacks for its own");
  set_recording_handler(SIGSEGV, SA_ONSTACK);
  all_stacks = mmap(NULL, STACK + 2 * ALTERNATE, PROT_READ | PROT_WRITE,
    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ck_assert_ptr_ne(all_stacks, MAP_FAILED);
  pthread_attr_init(&attributes);
  ck_assert_int_eq(pthread_attr_setstack(&attributes, all_stacks + ALTERNATE, STACK), 0);
  ck_assert_int_eq(pthread_create(&thread, &attributes, fault_with_an_alternate_stack,
    _i ? all_stacks : NULL), 0);
  pthread_join(thread, &succeeded);
  ck_assert_ptr_nonnull(succeeded);
}

#endif

/* The program's handlers, masks and other state. */

static sigjmp_buf out;
static int jumping_signal;

static void count_signal(int signal)
{
  seen_count++;
  if (signal == jumping_signal)
    siglongjmp(out, 1);
}

static void expect_equal_sets(const sigset_t *set, const sigset_t *other)
{
  int member;

  for (member = 1; member <= SIGRTMAX; member++)
    ck_assert_int_eq(sigismember(set, member), sigismember(other, member));
}

/* _i: whether the program installs a handler during the guard, which stays. */
TEST_LOOP(handlers_are_restored_with_mask_and_flags, 2)
{
  /* no handler is set for SIGSYS */
  static const int flags[] = { 0, SA_NODEFER | SA_ONSTACK, SA_RESTART | SA_SIGINFO, SA_RESETHAND };
  struct sigaction set, before[CPUC_OS_THREAD_FAULT_SIGNALS], after;
  int i;

  for (i = 0; i < 4; i++) {
    set = (struct sigaction){ .sa_flags = flags[i] };
    if (flags[i] & SA_SIGINFO)
      set.sa_sigaction = record_signal;
    else
      set.sa_handler = i == 0 ? SIG_IGN : count_signal;
    sigaddset(&set.sa_mask, SIGUSR1 + i);
    ck_assert_int_eq(sigaction(cpuc_os_thread_fault_signals[i], &set, NULL), 0);
  }
  for (i = 0; i < CPUC_OS_THREAD_FAULT_SIGNALS; i++)
    sigaction(cpuc_os_thread_fault_signals[i], NULL, &before[i]);
  enter_guard();
  ck_assert_int_eq(cpuc_guard_run(read_page, &forbidden), SIGSEGV);
  if (_i) {
    sigaction(cpuc_os_thread_fault_signals[1], &set, NULL);
    before[1] = set;
  }
  leave_guard();
  /* ThreadSanitizer adds to the mask of a disposition that was never set. */
  for (i = 0; i < (suite_under("tsan") ? 4 : CPUC_OS_THREAD_FAULT_SIGNALS); i++) {
    sigaction(cpuc_os_thread_fault_signals[i], NULL, &after);
    ck_assert_ptr_eq((void *)after.sa_handler, (void *)before[i].sa_handler);
    /* ignores the flag that a C library adds to every handler (asm/signal.h: SA_RESTORER) */
    ck_assert_int_eq(after.sa_flags & ~0x04000000, before[i].sa_flags & ~0x04000000);
    expect_equal_sets(&after.sa_mask, &before[i].sa_mask);
  }
}

/* _i: whether the thread blocks SIGUSR1 alone, or all signals. */
TEST_LOOP(mask_and_cancellation_state_are_restored, 2)
{
  sigset_t mask, now;
  int state;

  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  if (_i)
    sigfillset(&mask);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  enter_guard();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  ck_assert_int_eq(state, PTHREAD_CANCEL_DISABLE);
  ck_assert_int_eq(cpuc_guard_run(read_page, &forbidden), SIGSEGV);
  leave_guard();
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  expect_equal_sets(&now, &mask);
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
  ck_assert_int_eq(state, PTHREAD_CANCEL_ENABLE);
}

/* Faults of other threads, and signals that are sent. */

static void *call_elsewhere(void *body)
{
  (*(void (**)(void *))body)(&forbidden);
  return NULL;
}

static void call_in_another_thread(void (*body)(void *))
{
  result_in_thread(call_elsewhere, &body);
}

/* The system chooses the code of a fault, and whether the handler's own mask is in force. For
   example, emulators give SEGV_MAPERR on some CPUs, and qemu 7 has another mask on RISC-V. The test
   expects the code of a fault without the guard, and the mask if it is in force there. */
TEST(fault_of_another_thread_reaches_the_program)
{
  int usual_code, usually_masked;

  SKIP_IF(suite_under("valgrind"), "valgrind takes the fault for an error of the program");
  set_recording_handler(SIGSEGV, 0);
  read_value = suite_read(forbidden);
  usual_code = seen_code;
  usually_masked = seen_masked;
  ck_assert_int_eq(seen_count, 1);
  forbidden = suite_forbidden_page();
  enter_guard();
  call_in_another_thread(read_page);
  leave_guard();
  ck_assert_int_eq(seen_count, 2);
  ck_assert_int_eq(seen_signal, SIGSEGV);
  ck_assert_int_eq(seen_code, usual_code);
  ck_assert_ptr_eq(seen_address, (void *)forbidden);
  ck_assert_int_eq(seen_context, 1);
  ck_assert_int_ge(seen_masked, usually_masked);
}

BODY(raise_in_itself, raise(suite_fault_to_send(SIGSEGV)))

enum { DURING, BLOCKED_BEFORE, IGNORED_ELSEWHERE, AFTER, MOMENTS };

/* _i: when the signal is sent. DURING the guard: the handler runs only after the guard was left,
   because a handler may do anything, and two pending signals merge. AFTER the guard: a thread has
   stored our handler during the guard, and restores it. The program blocks the signal that is sent
   before the guard, and ignores the one that is sent to another thread. */
TEST_LOOP(sent_signal_reaches_the_program_when_it_wants, MOMENTS)
{
  int signal_number = suite_fault_to_send(SIGSEGV), i;
  struct sigaction ours;
  sigset_t set;

  SKIP_IF(suite_under("valgrind"), "valgrind delivers sent signals when it sees fit");
  set_recording_handler(signal_number, 0);
  if (_i == IGNORED_ELSEWHERE)
    signal(signal_number, SIG_IGN);
  sigemptyset(&set);
  sigaddset(&set, signal_number);
  if (_i == BLOCKED_BEFORE) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise_in_itself(NULL);
  }
  enter_guard();
  for (i = 0; _i == DURING && i < 2; i++)
    ck_assert_int_eq(cpuc_guard_run(raise_in_itself, NULL), 0);
  if (_i == IGNORED_ELSEWHERE)
    call_in_another_thread(raise_in_itself);
  sigaction(signal_number, NULL, &ours);
  ck_assert_int_eq(seen_count, 0);
  leave_guard();
  if (_i == AFTER) {
    sigaction(signal_number, &ours, NULL);
    raise(signal_number);
  }
  ck_assert_int_eq(seen_count, _i == DURING || _i == AFTER);
  sigpending(&set);
  ck_assert_int_eq(sigismember(&set, signal_number), _i == BLOCKED_BEFORE);
}

BODY(send_two, (raise(SIGFPE), raise(SIGSYS)))

/* _i: which of the two handlers leaves by a jump. */
TEST_LOOP(jump_out_of_a_handler_loses_no_other_signal, 2)
{
  struct sigaction action = { .sa_handler = count_signal };

  SKIP_IF(suite_under("qemu"), "qemu keeps all but one of these signals for itself");
  SKIP_IF(suite_under("valgrind"), "valgrind delivers sent signals when it sees fit");
  jumping_signal = _i ? SIGSYS : SIGFPE;
  /* Each handler blocks the other signal. Otherwise the system could start the second handler
     before the first instruction of the first one, and the jump would discard the first one. */
  sigfillset(&action.sa_mask);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGSYS, &action, NULL);
  if (sigsetjmp(out, 1) == 0) {
    enter_guard();
    ck_assert_int_eq(cpuc_guard_run(send_two, NULL), 0);
    leave_guard();
  }
  ck_assert_int_eq(seen_count, 2);
}

/* Faults that the program does not handle. */

BODY(read_page_elsewhere, call_in_another_thread(read_page))

static void make_filtered_call(void *unused)
{
  (void)unused;
#ifdef HAVE_LINUX_SECCOMP_H
  call_under_filter(SECCOMP_RET_TRAP);
#endif
}

#ifdef __linux__

static void send_with_code(int code)
{
  siginfo_t info = { .si_signo = SIGBUS, .si_code = code };

  syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), SIGBUS, &info);
}

/* 0 if a signal that the thread sends to itself has the given code. */
static int receive_sent_code(void)
{
  set_recording_handler(SIGBUS, 0);
  send_with_code(BUS_ADRERR);
  return seen_code != BUS_ADRERR;
}

/* The kernel reports a memory error before an access, which then does not fault. */
BODY(send_memory_error, send_with_code(BUS_MCEERR_AO))

#endif

#ifdef HAVE_LINUX_SECCOMP_H

/* In place of a fault whose instruction is not repeated, as on s390x, the process sends itself a
   signal with the code of a fault. The filter keeps the guard from making the signal pending with
   its siginfo. */
static void send_fault_under_a_filter(void *unused)
{
  static const int calls[] = { SYS_rt_tgsigqueueinfo };
  siginfo_t info = { .si_signo = SIGFPE, .si_code = FPE_INTDIV };

  (void)unused;
  if (filter_calls(calls, 1, SECCOMP_RET_ERRNO | EPERM) == 0)
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGFPE, &info);
}

#endif

/* Each crash in the guard but outside of a body, and the signal that ends the process with and
   without the guard. The first rows are faults of the thread itself. */
static const struct {
  const char *name;
  void (*body)(void *);
  int signal;  /* 0: that of suite_fault_to_send(SIGSEGV) */
  int is_sent; /* 1 if the program can ignore the signal, unlike a fault */
} crashes[] = {
  { "fault", read_page, SIGSEGV, 0 },
  { "undefined_instruction", run_undefined, SIGILL, 0 },
  { "filtered_call", make_filtered_call, SIGSYS, 0 },
  { "fault_in_another_thread", read_page_elsewhere, SIGSEGV, 0 },
#ifdef HAVE_LINUX_SECCOMP_H
  { "single_fault_under_a_filter", send_fault_under_a_filter, SIGFPE, 1 },
#endif
#ifdef __linux__
  { "memory_error_without_access", send_memory_error, SIGBUS, 1 },
#endif
  { "signal_sent_to_the_thread", raise_in_itself, 0, 1 },
};

enum { CRASHES = sizeof crashes / sizeof crashes[0], OWN_FAULTS = 3 };

static int crash_number, is_ignored;

static int crash(void)
{
  crashes[crash_number].body(&forbidden);
  return 0;
}

static int crash_in_the_guard(void)
{
  int i;

  for (i = 0; i < CPUC_OS_THREAD_FAULT_SIGNALS; i++)
    signal(cpuc_os_thread_fault_signals[i], is_ignored ? SIG_IGN : SIG_DFL);
  enter_guard();
  crash();
  leave_guard();
  return 0;
}

TEST_LOOP(unhandled_fault_still_ends_the_process, CRASHES)
{
  const char *name = crashes[_i].name;
  int signal = crashes[_i].signal ? crashes[_i].signal : suite_fault_to_send(SIGSEGV);
  char observed[100];

  SKIP_IF(suite_under("valgrind"), "valgrind reports the fault as an error of the program");
  snprintf(observed, sizeof observed, "%s raises no signal", name);
  crash_number = _i;
  skip_unless(crash, -signal, observed);
  ck_assert_msg(result_in_child(crash_in_the_guard) == -signal, "%s", name);
  is_ignored = 1;
  if (!crashes[_i].is_sent)
    ck_assert_msg(result_in_child(crash_in_the_guard) == -signal, "%s, ignored", name);
}

#ifdef __linux__

/* Runs body() in a child. Returns the last signal before its end, as a debugger or a crash reporter
   would find it. */
static siginfo_t last_signal_of(int (*body)(void))
{
  siginfo_t info = { .si_signo = 0 };
  pid_t child = fork();
  int status;

  ck_assert_int_ge(child, 0);
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    _exit(body());
  }
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    ptrace(PTRACE_GETSIGINFO, child, NULL, &info);
    ptrace(PTRACE_CONT, child, NULL, (void *)(long)WSTOPSIG(status));
  }
  if (!WIFSIGNALED(status))
    info.si_signo = 0;
  return info;
}

/* Compares every fault of the traced thread with the same fault without the guard. */
TEST_LOOP(crash_shows_its_own_cause, OWN_FAULTS)
{
  const char *name = crashes[_i].name;
  siginfo_t usual, info;

  SKIP_IF(SUITE_SANITIZED, "the sanitizer has handlers of its own");
  SKIP_IF(suite_under("valgrind"), "valgrind cannot be traced");
  skip_unless(receive_sent_code, 0, "rt_tgsigqueueinfo does not send a signal with a given code");
  crash_number = _i;
  usual = last_signal_of(crash);
  SKIP_IF(usual.si_signo != crashes[_i].signal || usual.si_code <= 0,
    "without the library, no tracer sees the cause of this crash");
  info = last_signal_of(crash_in_the_guard);
  ck_assert_msg(info.si_signo == usual.si_signo && info.si_code == usual.si_code,
    "%s: signal %d, code %d", name, info.si_signo, info.si_code);
  ck_assert_msg(info.si_addr == usual.si_addr, "%s: %p", name, info.si_addr);
}

#endif

/* This sigaction() replaces glibc's in the program, and calls after_call() after each call. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) \
  && !defined(__clang__)

static void (*after_call)(void);

static int real_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
  static int (*real)(int, const struct sigaction *, struct sigaction *);

  if (!real)
    *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
  return real(signal, action, old);
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
  int result = real_sigaction(signal, action, old);

  if (after_call)
    after_call();
  return result;
}

static int calls, calls_before_the_fork; /* of sigaction() in the guard */
static pid_t forked_child;

/* Enters the guard with the mask of a thread that does not select. */
static void enter_in_the_child(void)
{
  struct sigaction before, after;
  sigset_t none;
  int caught;

  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
  cpuc_guard_forked();
  real_sigaction(SIGSEGV, NULL, &before);
  enter_guard();
  caught = cpuc_guard_run(read_page, &forbidden);
  leave_guard();
  real_sigaction(SIGSEGV, NULL, &after);
  _exit(caught != SIGSEGV ? 1 : after.sa_sigaction != record_signal ? 2
    : before.sa_sigaction != record_signal ? 3 : 0);
}

/* A thread of Go or Java has no room for a handler on its own stack. */
static void expect_the_programs_stack_and_mask_and_fork(void)
{
  struct sigaction now;

  real_sigaction(SIGSEGV, NULL, &now);
  ck_assert(now.sa_flags & SA_ONSTACK);
  ck_assert_int_eq(sigismember(&now.sa_mask, SIGUSR2), 1);
  if (++calls != calls_before_the_fork)
    return;
  after_call = NULL;
  forked_child = fork();
  if (forked_child == 0)
    enter_in_the_child();
}

TEST(handler_has_the_programs_stack_and_mask_at_any_call_also_in_a_forked_child)
{
  int n, status;

  for (n = 1;; n++) {
    forked_child = calls = 0;
    calls_before_the_fork = n;
    set_recording_handler(SIGSEGV, SA_ONSTACK);
    after_call = expect_the_programs_stack_and_mask_and_fork;
    enter_guard();
    leave_guard();
    after_call = NULL;
    if (forked_child == 0)
      break;
    ck_assert_int_eq(waitpid(forked_child, &status, 0), forked_child);
    ck_assert_msg(status == 0, "after call %d: status %x", n, (unsigned)status);
  }
  ck_assert_int_gt(n, 10);
}

#else

SUITE_WITHOUT(calls_of_sigaction, "the test replaces it with glibc and GCC, without a sanitizer")

#endif

static void make_page(void)
{
  forbidden = suite_forbidden_page();
}

SUITE_AROUND("guard", make_page, NULL)
