/* SPDX-License-Identifier: 0BSD OR MIT */
/* Children of a test, in which the library has not been called unless the test has called it
   before; and what a test tries in a child to find out what this machine can do: limits, filters,
   single steps. For POSIX; Windows has no children and no steps. Include after config.h. */

#ifndef CPUCYCLES_CHILD_H
#define CPUCYCLES_CHILD_H

#include "tests/suites/suite.h"

#ifdef CPUCYCLES_POSIX

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#ifdef HAVE_LINUX_SECCOMP_H
#include "tests/hosts/filter.h"
#endif
#ifdef HAVE_PERF_EVENTS
#include <linux/perf_event.h>
#endif

/* Runs body() in a child process. Returns its exit status, or minus the number of the signal that
   ended it. Polls with a time limit, because a child may hang with all signals blocked. */
static inline int result_in_child(int (*body)(void))
{
  static const int faults[] = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };
  const struct timespec pause = { 0, 200000 };
  pid_t child = fork(), ended;
  time_t end = time(NULL) + 60;
  int i, status = 0;

  ck_assert_int_ge(child, 0);
  if (child == 0) {
    for (i = 0; i < 5; i++)
      signal(faults[i], SIG_DFL); /* sanitizers have handlers for them */
    _exit(body());
  }
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && time(NULL) < end)
    nanosleep(&pause, NULL);
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    ck_abort_msg("the child did not end within 60 s");
  }
  ck_assert_int_eq(ended, child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Runs body() in a child process, and expects that it returns 0. */
#define in_child_process(body) expect_0_in_child(body, #body)
static inline void expect_0_in_child(int (*body)(void), const char *name)
{
  int result = result_in_child(body);

  ck_assert_msg(result == 0, "%s() in a child: %s %d instead of 0", name,
    result < 0 ? "ended by signal" : "returned", abs(result));
}

/* Skips the test unless the attempt ends as expected in a child process: `expected` is its exit
   status, or minus the number of the signal that ends it. `observed` is the message for any other
   end. */
static inline void skip_unless(int (*attempt)(void), int expected, const char *observed)
{
  int result = result_in_child(attempt);

  SKIP_IF(result != expected, "%s (%s %d)", observed,
    result < 0 ? "ended by signal" : "exit status", abs(result));
}

/* Descriptors, memory and threads. */

/* Returns the number of open descriptors below 4096 and below the soft limit, without /proc. */
static inline int open_descriptors(void)
{
  long limit = sysconf(_SC_OPEN_MAX);
  int descriptor, count = 0;

  for (descriptor = 0; descriptor < limit && descriptor < 4096; descriptor++)
    count += fcntl(descriptor, F_GETFD) != -1;
  return count;
}

/* Limits descriptors, so that new descriptors get numbers below `numbers`. */
static inline int set_descriptor_limit(unsigned long numbers)
{
  struct rlimit limit;

  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return -1;
  limit.rlim_cur = numbers;
  return setrlimit(RLIMIT_NOFILE, &limit);
}

enum { LOW_LIMIT = 64 };

/* An attempt for skip_unless(). Its result is 0 if the system enforces a lowered limit. */
static inline int lower_the_limit(void)
{
  return set_descriptor_limit(LOW_LIMIT) != 0 || dup2(0, LOW_LIMIT) >= 0;
}

/* Returns the bytes that the program has allocated with malloc(), also in maps of their own, or -1
   if this C library does not count them. */
static inline long heap_bytes(void)
{
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 33)
  struct mallinfo2 info = mallinfo2();

  return (long)(info.uordblks + info.hblkhd);
#endif
#endif
  return -1;
}

/* Runs body(argument) in a new thread. Returns its result. */
static inline void *result_in_thread(void *(*body)(void *), void *argument)
{
  pthread_t thread;
  void *result;
  int error = pthread_create(&thread, NULL, body, argument);

  if (error == 0) /* an assertion would allocate memory while the thread runs */
    pthread_join(thread, &result);
  ck_assert_int_eq(error, 0);
  return result;
}

/* For flags that another thread sets, or waits for. */

static inline void set_flag(int *flag)
{
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static inline void wait_for(const int *flag)
{
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
    sched_yield();
}

static inline void *count_bytes(void *use)
{
  long before = heap_bytes();

  (*(void (**)(void))use)();
  return (void *)(heap_bytes() - before);
}

/* Returns the bytes that a new thread allocates in use() and does not free. The program has many
   keys, so the values of later keys do not fit into the memory that each thread has for values. */
static inline long bytes_of_a_thread(void (*use)(void))
{
  pthread_key_t key;
  int i;

  for (i = 0; i < 100; i++)
    ck_assert_int_eq(pthread_key_create(&key, NULL), 0);
  return (long)result_in_thread(count_bytes, &use);
}

/* Calls body(argument) in a thread with a stack of 16 KiB, or the least that this system grants.
   Returns 0 or an errno. */
static inline int call_on_a_small_stack(void *(*body)(void *), void *argument)
{
  pthread_attr_t attributes;
  pthread_t thread;
  size_t size = 16384;
  int error;

  pthread_attr_init(&attributes);
  while (pthread_attr_setstacksize(&attributes, size) != 0)
    size *= 2;
  error = pthread_create(&thread, &attributes, body, argument);
  if (error == 0)
    pthread_join(thread, NULL);
  return error;
}

#ifndef SIGRTMAX
#define SIGRTMAX (NSIG - 1)
#endif

/* Output. */

static FILE *capture_stream, *capture_file;
static int capture_saved; /* copy of the descriptor of the stream, while captured */
static char captured[16384];

static inline void capture_begin(FILE *stream)
{
  capture_stream = stream;
  fflush(stream);
  capture_saved = dup(fileno(stream));
  capture_file = tmpfile();
  ck_assert_ptr_nonnull(capture_file);
  dup2(fileno(capture_file), fileno(stream));
}

/* Ends the capture. Returns the output, which stays in captured[] until the next capture ends. */
static inline const char *capture_end(void)
{
  size_t length;

  fflush(capture_stream);
  dup2(capture_saved, fileno(capture_stream));
  close(capture_saved);
  rewind(capture_file);
  length = fread(captured, 1, sizeof captured - 1, capture_file);
  captured[length] = 0;
  fclose(capture_file);
  return captured;
}

/* Attempts for several suites, and functions that they call. The comment on an attempt starts with
   its result. */

#ifdef HAVE_LINUX_SECCOMP_H

/* Makes a harmless system call, which a filter answers. Returns its errno, or FILTER_IMPOSSIBLE. */
static inline int call_under_filter(unsigned int action)
{
  static const int call[] = { SYS_getppid };

  errno = 0;
  if (filter_calls(call, 1, action) != 0)
    return FILTER_IMPOSSIBLE;
  syscall(SYS_getppid);
  return errno;
}

#endif

#ifdef HAVE_PERF_EVENTS

/* 0 if the kernel counts the CPU time of a thread as a perf event; else its errno, or 255. */
static inline int count_cpu_time(void)
{
  struct perf_event_attr wanted = { .size = sizeof wanted, .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_kernel = 1, .exclude_hv = 1 };
  int event = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0);
  long long first = 0, last = 0;

  if (event < 0)
    return errno;
  return read(event, &first, sizeof first) == (ssize_t)sizeof first
    && read(event, &last, sizeof last) == (ssize_t)sizeof last && last > first ? 0 : 255;
}

static inline void skip_without_perf_events(void)
{
  skip_unless(count_cpu_time, 0, "perf_event_open does not count the CPU time of a thread");
}

#endif

/* Vector instructions from the compiler need the stack alignment of the ABI: System V ABI, AMD64
   supplement, section 3.2.2. */
static inline void skip_unless_handlers_are_aligned(void)
{
#ifdef __x86_64__
  SKIP_IF(suite_under("qemu"), "qemu 7.2 starts signal handlers with a misaligned stack");
#endif
}

/* Single-stepping: the CPU raises SIGTRAP after each instruction, so that a handler can run after
   any instruction. CAN_SINGLE_STEP is defined if single-stepping is possible. */

/* ThreadSanitizer delays signals, and the steps would include its code. */
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define CAN_SINGLE_STEP

#include <ucontext.h>

enum { TRAP_FLAG = 0x100 }; /* of EFLAGS */

/* Switches single-stepping on or off. Keeps the red zone below the stack pointer intact. */
static inline void set_single_step(int on)
{
  unsigned long flag = on ? TRAP_FLAG : 0;

  __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $-257, (%%rsp)\n\torq %0, (%%rsp)\n\t"
                   "popfq\n\tlea 128(%%rsp), %%rsp" ::"r"(flag) : "cc", "memory");
}

static volatile int trap_was_raised;

static inline void note_trap(int signal)
{
  (void)signal;
  set_single_step(0);
  trap_was_raised = 1;
}

/* An attempt for skip_unless(), whose result is 0 if the CPU raises SIGTRAP. */
static inline int step_once(void)
{
  signal(SIGTRAP, note_trap);
  set_single_step(1);
  set_single_step(0);
  return !trap_was_raised;
}

static inline void skip_without_single_steps(void)
{
  skip_unless(step_once, 0, "the CPU raises no SIGTRAP after an instruction");
  skip_unless_handlers_are_aligned();
}

#endif

#endif

#ifndef CAN_SINGLE_STEP

static inline void set_single_step(int on)
{
  (void)on;
}

#endif

#endif
