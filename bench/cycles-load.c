/* SPDX-License-Identifier: 0BSD OR MIT */
/* Processes that compute beside a measurement. */

#include "config.h"

#include "bench/cycles.h"
#include "sys/os-clock.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOADS = 2, PROCESSES = 3, WAKE_NANOSECONDS = 100000, COMPUTE_NANOSECONDS = 40000 };

/* Those of the load, and a measurement; 0: none. */
static volatile pid_t processes[PROCESSES];

static const int deadly_signals[] = { SIGINT, SIGTERM, SIGHUP };

static void stop(void)
{
  int i;

  for (i = 0; i < PROCESSES; i++)
    if (processes[i] > 0)
      kill(processes[i], SIGKILL);
  for (i = 0; i < PROCESSES; i++) {
    if (processes[i] > 0)
      waitpid(processes[i], NULL, 0);
    processes[i] = 0;
  }
}

static void stop_and_die(int signal_number)
{
  stop();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

int bench_load_pin(void)
{
#ifdef CPU_SET
  cpu_set_t allowed, one;
  int cpu = 0;

  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return -1;
  while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &allowed))
    cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof one, &one);
#else
  return -1;
#endif
}

/* Both loops end when the parent has ended, in a way that no handler sees, too. */

static void compute(pid_t parent)
{
  volatile long i;

  while (getppid() == parent)
    for (i = 0; i < 100000; i++)
      ;
}

static void wake_often(pid_t parent)
{
  long long next = cpuc_os_clock_monotonic(), end;

#ifdef __linux__
  (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); /* else it may wake 50 us late */
#endif
  while (getppid() == parent) {
    struct timespec pause = { 0, 0 };

    for (end = cpuc_os_clock_monotonic() + COMPUTE_NANOSECONDS; cpuc_os_clock_monotonic() < end;)
      ;
    next += WAKE_NANOSECONDS;
    if (next < end)
      next = end + WAKE_NANOSECONDS - COMPUTE_NANOSECONDS;
    pause.tv_nsec = (long)(next - end);
    nanosleep(&pause, NULL);
  }
}

/* Blocks the signals that end this process, while processes[] is not what runs. */
static sigset_t block_deadly_signals(void)
{
  sigset_t deadly, saved;
  size_t i;

  sigemptyset(&deadly);
  for (i = 0; i < sizeof deadly_signals / sizeof deadly_signals[0]; i++)
    sigaddset(&deadly, deadly_signals[i]);
  sigprocmask(SIG_BLOCK, &deadly, &saved);
  return saved;
}

static pid_t fork_process(int index)
{
  sigset_t saved = block_deadly_signals();
  pid_t child = fork();
  size_t i;

  for (i = 0; child == 0 && i < sizeof deadly_signals / sizeof deadly_signals[0]; i++)
    signal(deadly_signals[i], SIG_DFL);
  processes[index] = child > 0 ? child : 0;
  sigprocmask(SIG_SETMASK, &saved, NULL);
  return child;
}

pid_t bench_load_fork(void)
{
  return fork_process(LOADS);
}

int bench_load_wait(void)
{
  sigset_t saved = block_deadly_signals();
  int status = -1;

  if (waitpid(processes[LOADS], &status, 0) != processes[LOADS])
    status = -1;
  processes[LOADS] = 0;
  sigprocmask(SIG_SETMASK, &saved, NULL);
  return status;
}

static int start_one(int index, void (*run)(pid_t parent))
{
  pid_t parent = getpid(), child = fork_process(index);

  if (child == 0) {
    if (run == wake_often && bench_load_pin() != 0)
      _exit(1);
    run(parent);
    _exit(0);
  }
  return child > 0 ? 0 : -1;
}

int bench_load_start(enum bench_load load)
{
  size_t i;

  for (i = 0; i < sizeof deadly_signals / sizeof deadly_signals[0]; i++)
    signal(deadly_signals[i], stop_and_die);
  stop();
  if (load == BENCH_IDLE)
    return 0;
  if (load == BENCH_BUSY)
    return start_one(0, compute) | start_one(1, compute);
#ifdef CPU_SET
  return start_one(0, wake_often);
#else
  return -1;
#endif
}
