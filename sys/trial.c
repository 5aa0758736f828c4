/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the selecting thread caught by signal handlers, and leaves handlers
   for a selected counter that may fault later. No other file of the library changes signal
   dispositions. process.c ensures that one thread selects at a time. */

/* For the jump out of a handler: sys/signal-stack.h. */
#undef _FORTIFY_SOURCE

#include "config.h"

#include "sys/trial.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __linux__
#include "sys/signal-stack.h"

#include <sys/syscall.h>
#include <ucontext.h>
#endif

/* The signals that reading a counter can raise if it is not allowed. */
static const int faults[] = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };

enum { FAULTS = sizeof faults / sizeof faults[0] };

/* A handler of the library, and the program's actions that it replaces. The actions stay valid
   after the handler is removed, since a handler that the program installs later may pass signals on
   to the library's at any time. */
struct handlers {
  void (*handler)(int signal, siginfo_t *info, void *context);
  struct sigaction program[FAULTS];
  int known[FAULTS]; /* has the action above been stored? */
};

static void on_signal_during(int signal, siginfo_t *info, void *context);
static void on_signal_after(int signal, siginfo_t *info, void *context);

/* Two handlers, since the program may install a handler of its own during the selection: a fault
   may then go from `after` to the program's, and from there to `during`. With a single handler, it
   would go in a circle. */
static struct handlers during = { .handler = on_signal_during },
  after = { .handler = on_signal_after };

/* Global, because the signal handler reads it. */
static struct {
  pid_t process;
  pthread_t thread; /* the selecting thread */
  int running;
  sigset_t mask;    /* of the thread before the selection */
  sigset_t trial_mask;
  volatile sig_atomic_t armed; /* a body is running */
  volatile sig_atomic_t caught;
  sigjmp_buf escape;
  volatile sig_atomic_t in_place[FAULTS]; /* the handler for the trial is installed */
#ifdef __linux__
  stack_t stack; /* the alternate stack, as it was at the fault */
#endif
  int sent[FAULTS]; /* signals sent to the thread meanwhile; one per number, as pending ones */
  siginfo_t sent_info[FAULTS];
  int (*rescue)(int signal, const void *info, void *context);
  int stays[FAULTS]; /* a handler stays after the selection */
  int found_other[FAULTS]; /* at the end, a handler of the program was in the place of ours */
} trial;

static int index_of(int signal)
{
  int i = 0;

  while (faults[i] != signal)
    i++;
  return i;
}

/* True if the signal was sent by kill() or the like, false if an instruction of the thread raised
   it. By si_code, as in sigaction(2) of Linux, and of systems where SI_USER is above the codes of
   faults. */
static int was_sent(const siginfo_t *info)
{
#ifdef BUS_MCEERR_AO
  /* memory has failed, but no instruction has accessed it */
  if (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO)
    return 1;
#endif
#ifdef SI_KERNEL
  if (info->si_code == SI_KERNEL)
    return 0;
#endif
  return SI_USER > 0 ? info->si_code >= SI_USER : info->si_code <= 0;
}

/* Sends a signal again with its siginfo, to the calling thread or to the process. Returns 0, or -1
   if the system does not allow that. */
static int queue_again(siginfo_t *info, int to_thread)
{
#if defined(SYS_rt_sigqueueinfo) && defined(SYS_rt_tgsigqueueinfo) && defined(SYS_gettid)
  if (to_thread)
    return (int)syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid),
      info->si_signo, info);
  return (int)syscall(SYS_rt_sigqueueinfo, getpid(), info->si_signo, info);
#else
  (void)info, (void)to_thread;
  return -1;
#endif
}

/* Sends a signal again, with its siginfo if that is allowed. Returns 0, or an error. */
static int send_again(siginfo_t *info, int to_thread)
{
  if (queue_again(info, to_thread) == 0)
    return 0;
  return to_thread ? pthread_kill(pthread_self(), info->si_signo)
    : kill(getpid(), info->si_signo);
}

/* Ends the process when the handler returns, as it would have ended without this library. An access
   to memory faults again by itself. Other faults are made pending with their code and address,
   since s390x does not repeat the instruction. No system repeats a system call that a filter has
   answered with SIGSYS. */
static void take_default_action(siginfo_t *info)
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigaction(info->si_signo, &action, NULL);
  if (was_sent(info) || info->si_signo == SIGSYS)
    send_again(info, 1);
  else if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS)
    queue_again(info, 1);
}

/* Performs an action of the program, as the system would. */
static void act(struct sigaction *program, siginfo_t *info, void *context)
{
  struct sigaction action = *program;

  if (action.sa_flags & SA_RESETHAND)
    action.sa_handler = __atomic_exchange_n(&program->sa_handler, SIG_DFL, __ATOMIC_ACQ_REL);
  if (action.sa_handler == SIG_IGN && was_sent(info))
    return;
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
    take_default_action(info); /* no system lets a fault be ignored */
  else if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(info->si_signo, info, context);
  else
    action.sa_handler(info->si_signo);
}

/* Passes a signal on to the program. The program's action is not known yet between the system call
   that installs our handler and the next instructions of the selecting thread: other threads wait
   for these. A child that is forked in between has lost the action, and takes the default. */
static void pass_on(struct handlers *ours, int i, siginfo_t *info, void *context)
{
  while (!__atomic_load_n(&ours->known[i], __ATOMIC_ACQUIRE) && getpid() == trial.process)
    cpucycles_sleep_briefly();
  act(&ours->program[i], info, context);
}

static void on_signal_during(int signal, siginfo_t *info, void *context)
{
  int saved_errno = errno, i = index_of(signal);
  int mine = __atomic_load_n(&trial.running, __ATOMIC_ACQUIRE) && getpid() == trial.process
    && pthread_equal(pthread_self(), trial.thread);

  if (mine && was_sent(info)) {
    if (!__atomic_exchange_n(&trial.sent[i], 1, __ATOMIC_ACQ_REL))
      trial.sent_info[i] = *info;
  } else if (mine && trial.armed) {
    trial.armed = 0;
    trial.caught = signal;
#ifdef __linux__
    trial.stack = ((ucontext_t *)context)->uc_stack;
#endif
    siglongjmp(trial.escape, 1);
  } else
    pass_on(&during, i, info, context);
  errno = saved_errno;
}

static void on_signal_after(int signal, siginfo_t *info, void *context)
{
  int saved_errno = errno;

  if (was_sent(info) || !trial.rescue(signal, info, context))
    pass_on(&after, index_of(signal), info, context);
  errno = saved_errno;
}

static int is_action_of(const struct sigaction *action, const struct handlers *ours)
{
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == ours->handler;
}

/* Replaces our handler. A handler that the program has installed meanwhile stays: it may pass
   signals on to ours, so that ours must not pass signals on to it. Returns 0 then. */
static int replace(const struct handlers *ours, int i, const struct sigaction *action)
{
  struct sigaction found = *action;

  sigaction(faults[i], action, &found);
  if (is_action_of(&found, ours))
    return 1;
  sigaction(faults[i], &found, NULL);
  return 0;
}

/* Installs our handler for faults[i] with one system call. If the program has a handler, a second
   call makes ours run under the same conditions (stack, mask, restarts). */
static void install(struct handlers *ours, int i)
{
  struct sigaction action, found;

  memset(&action, 0, sizeof action);
  found = action;
  action.sa_flags = SA_SIGINFO | SA_RESTART; /* an ignored signal interrupts no system call */
  action.sa_sigaction = ours->handler;
  sigemptyset(&action.sa_mask);
  sigaction(faults[i], &action, &found);
  /* ours is found at the end of the selection, or after a fork in the middle or at the end of it */
  if (is_action_of(&found, &during) || is_action_of(&found, &after))
    found = during.program[i];
  ours->program[i] = found;
  __atomic_store_n(&ours->known[i], 1, __ATOMIC_RELEASE);
  if (found.sa_handler == SIG_DFL || found.sa_handler == SIG_IGN)
    return;
  action.sa_mask = found.sa_mask;
  action.sa_flags = SA_SIGINFO | (found.sa_flags & ~(int)SA_RESETHAND);
  replace(ours, i, &action);
}

void cpucycles_block_signals(struct cpucycles_signal_state *saved)
{
  sigset_t all;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved->mask);
  saved->cancel_state = cpucycles_disable_cancellation();
}

void cpucycles_restore_signals(const struct cpucycles_signal_state *saved)
{
  cpucycles_restore_cancellation(saved->cancel_state);
  pthread_sigmask(SIG_SETMASK, &saved->mask, NULL); /* last, since a handler may jump out */
}

void cpucycles_trial_begin(const struct cpucycles_signal_state *saved)
{
  int i, forked = trial.running; /* the parent was selecting when it forked this process */

  trial.process = getpid();
  trial.thread = pthread_self();
  trial.mask = saved->mask;
  trial.armed = 0;
  sigfillset(&trial.trial_mask);
  for (i = 0; i < FAULTS; i++) {
    trial.sent[i] = trial.stays[i] = 0;
    sigdelset(&trial.trial_mask, faults[i]);
  }
  __atomic_store_n(&trial.running, 1, __ATOMIC_RELEASE);
  for (i = 0; i < FAULTS; i++) {
    if (!(forked && trial.in_place[i]))
      install(&during, i);
    trial.in_place[i] = 1;
  }
  /* A fault that is blocked would end the process. */
  pthread_sigmask(SIG_SETMASK, &trial.trial_mask, NULL);
}

void cpucycles_trial_keep_handlers(int (*rescue)(int signal, const void *info, void *context),
  const int *signals)
{
  trial.rescue = rescue;
  for (; *signals; signals++)
    trial.stays[index_of(*signals)] = 1;
}

/* Restores the program's action, or installs the handler that stays. Ignored signals stay ignored:
   programs started by execve() inherit that action, but not handlers. */
static void replace_or_restore(int i)
{
  trial.in_place[i] = 0; /* first: a child that is forked now installs it again */
  if (!trial.stays[i]) {
    trial.found_other[i] = !replace(&during, i, &during.program[i]);
    return;
  }
  install(&after, i);
  trial.stays[i] = after.program[i].sa_handler != SIG_IGN;
  if (!trial.stays[i])
    replace(&after, i, &after.program[i]);
}

/* True if the signal is to be sent again to the selecting thread: it was sent to this thread, or
   this thread does not block it. False: to the process, where another thread can handle it. */
static int is_for_thread(int i)
{
#ifdef SI_TKILL
  if (trial.sent_info[i].si_code == SI_TKILL)
    return 1;
#endif
  return sigismember(&trial.mask, faults[i]) == 0;
}

void cpucycles_trial_end(void)
{
  sigset_t all;
  int i;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (i = 0; i < FAULTS; i++)
    replace_or_restore(i);
  __atomic_store_n(&trial.running, 0, __ATOMIC_RELEASE);
  /* The signals stay pending until the caller unblocks them, so that a handler that jumps out loses
     none. */
  for (i = 0; i < FAULTS; i++)
    if (trial.sent[i])
      trial.sent[i] = send_again(&trial.sent_info[i], is_for_thread(i)) != 0;
}

void cpucycles_trial_replay(void)
{
  struct sigaction action;
#ifdef __linux__
  ucontext_t context;
  void *no_context = memset(&context, 0, sizeof context);
#else
  void *no_context = NULL;
#endif
  int i;

  for (i = 0; i < FAULTS; i++)
    if (trial.sent[i]) {
      trial.sent[i] = 0;
      sigaction(faults[i], NULL, &action);
      act(&action, &trial.sent_info[i], no_context);
    }
}

/* Removes the handlers before dlclose() unloads them: those that stay, and those that the program
   has put back, which had saved them during the selection. A handler of the program may still call
   them. */
__attribute__((destructor)) static void unload(void)
{
  int i;

  for (i = 0; i < FAULTS; i++)
    if (trial.stays[i])
      replace(&after, i, &after.program[i]);
    else if (trial.found_other[i])
      replace(&during, i, &during.program[i]);
}

int cpucycles_trial(void (*body)(void *), void *argument)
{
  if (sigsetjmp(trial.escape, 0)) {
#ifdef __linux__
    rearm_signal_stack(&trial.stack);
#endif
    pthread_sigmask(SIG_SETMASK, &trial.trial_mask, NULL); /* instead of the handler's */
    return trial.caught;
  }
  trial.armed = 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  body(argument);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  trial.armed = 0;
  return 0;
}
