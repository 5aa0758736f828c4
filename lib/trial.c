/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the calling thread caught. Handlers are process-wide, so those of
   the application are put aside for the duration, still get everything that is not ours, and
   come back exactly. Who may call when is the caller's matter: one thread at a time. */

#include "config.h"

#include "lib/library.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef HAVE_SYS_SYSCALL_H
#include <sys/syscall.h>
#endif

/* What a counter that is not allowed can raise. */
static const int faults[] = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };

enum { FAULTS = sizeof faults / sizeof faults[0] };

/* Signals that somebody sends to the trying thread meanwhile. More than these merge with those,
   as blocked signals of these numbers do. */
enum { KEPT = 32 };

/* What a signal handler must find cannot be anywhere else. The actions stay valid after the end
   of the trial: a handler entered just before may still be reading them. */
static struct {
  pthread_t thread; /* the one on trial */
  int running;      /* is it? */
  sigset_t mask;    /* its own, of before and after */
  sigset_t trial_mask;
  volatile sig_atomic_t armed; /* is body() running? */
  volatile sig_atomic_t caught;
  sigjmp_buf escape;
  stack_t stack; /* the alternate one, as it was when the signal came */
  struct sigaction application[FAULTS];
  int reset[FAULTS]; /* an SA_RESETHAND handler has had its one call */
  volatile sig_atomic_t kept;
  siginfo_t kept_info[KEPT];
} trial;

/* What becomes of a fault that the counter in use may know, and which of our handlers stay for
   it. */
static int (*rescuer)(int signal, const void *info, void *context);
static volatile sig_atomic_t stays[FAULTS];

/* What was there before them, once the application has set its own in their place. */
static struct sigaction beneath[FAULTS];
static int is_beneath[FAULTS];

/* Sent by somebody, and not raised by what the thread itself did. */
static int was_sent(const siginfo_t *info)
{
#ifdef __linux__
  if (info->si_code <= 0) /* sigaction(2): what user space, timers and descriptors send */
    return 1;
#endif
#ifdef BUS_MCEERR_AO
  /* some memory has failed somewhere */
  if (info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO)
    return 1;
#endif
  switch (info->si_code) {
  case SI_USER:
  case SI_QUEUE:
  case SI_TIMER:
  case SI_ASYNCIO:
  case SI_MESGQ:
    return 1;
  default:
    return 0;
  }
}

/* Does what the system's default action does: ends the process, by this signal. */
static void default_action(int signal)
{
  struct sigaction action;

  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_DFL;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
  raise(signal); /* takes effect when the handler returns */
}

static void pass_on(int i, siginfo_t *info, void *context)
{
  const struct sigaction *action = &trial.application[i];

  /* After a trial, only a handler that keeps ours for what it does not want leads here: not back
     to it. */
  if (!__atomic_load_n(&trial.running, __ATOMIC_ACQUIRE)
    && __atomic_load_n(&is_beneath[i], __ATOMIC_ACQUIRE))
    action = &beneath[i];
  if ((action->sa_flags & SA_RESETHAND)
    && __atomic_exchange_n(&trial.reset[i], 1, __ATOMIC_ACQ_REL))
    default_action(faults[i]);
  else if (action->sa_flags & SA_SIGINFO)
    action->sa_sigaction(faults[i], info, context);
  else if (action->sa_handler == SIG_DFL)
    default_action(faults[i]);
  else if (action->sa_handler != SIG_IGN)
    action->sa_handler(faults[i]);
  else if (!was_sent(info))
    default_action(faults[i]); /* the system does not let a fault be ignored either */
}

static int is_kept(int signal)
{
  int i;

  for (i = 0; i < trial.kept; i++)
    if (trial.kept_info[i].si_signo == signal)
      return 1;
  return 0;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
  int saved_errno = errno;
  int running = __atomic_load_n(&trial.running, __ATOMIC_ACQUIRE);
  int mine = running && pthread_equal(pthread_self(), trial.thread);
  int i = 0;

  while (faults[i] != signal)
    i++;
  if (mine && trial.armed && !was_sent(info)) {
    trial.armed = 0;
    trial.caught = signal;
    trial.stack = ((ucontext_t *)context)->uc_stack;
    siglongjmp(trial.escape, 1);
  }
  if (!was_sent(info)) {
    if (!__atomic_load_n(&rescuer, __ATOMIC_ACQUIRE) || !rescuer(signal, info, context))
      pass_on(i, info, context);
  } else if (!mine)
    pass_on(i, info, context);
  else if (trial.kept < KEPT || !is_kept(signal))
    /* The application's handler may do anything, even never return: it gets this at the end. */
    trial.kept_info[trial.kept < KEPT ? trial.kept++ : KEPT - 1] = *info;
  errno = saved_errno;
}

static int is_ours(const struct sigaction *action)
{
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_signal;
}

/* The same circumstances as the application's own handler has: stack, mask, restarts. */
static void put_ours(int i, struct sigaction *found)
{
  struct sigaction action = trial.application[i];

  action.sa_flags &= SA_ONSTACK | SA_NODEFER | SA_RESTART;
  if (!(trial.application[i].sa_flags & SA_SIGINFO) && trial.application[i].sa_handler == SIG_IGN)
    action.sa_flags |= SA_RESTART; /* ignored signals interrupt nothing */
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = on_signal;
  sigaction(faults[i], &action, found);
}

static void install(int i)
{
  struct sigaction found;

  put_ours(i, &found);
  if (is_ours(&found) || (found.sa_handler == trial.application[i].sa_handler
        && found.sa_flags == trial.application[i].sa_flags))
    return;
  trial.application[i] = found; /* another thread has just set it */
  put_ours(i, &found);
}

static int never_set(const struct sigaction *action)
{
  int member;

  /* To musl, a number that is no signal's is no error: the size of the set is an end, too. */
  for (member = 1; member <= (int)sizeof(action->sa_mask) * 8; member++) {
    int is_member = sigismember(&action->sa_mask, member);

    if (is_member > 0)
      return 0;
    if (is_member < 0)
      break;
  }
  return action->sa_handler == SIG_DFL && action->sa_flags == 0;
}

/* The C library adds a flag of its own to whatever it sets, on many CPUs. All zero is "never
   set" in every layout that the kernel has; the size of its mask is the fourth argument, on
   sparc the fifth. */
static void restore_never_set(int i)
{
#if defined(__linux__) && defined(SYS_rt_sigaction)
  /* the same on all CPUs that have it: asm/signal.h */
  const unsigned long sa_restorer = 0x04000000;
  unsigned long zero[20] = { 0 }, found[20] = { 0 };

  syscall(SYS_rt_sigaction, faults[i], zero, found, _NSIG / 8, _NSIG / 8);
  /* The handler comes first and then the flags; on MIPS, which has no such flag, the other way
     round. If this is not "default", another thread has just set a handler, which stays. */
  if (found[0] != 0 || (found[1] != 0 && found[1] != sa_restorer))
    syscall(SYS_rt_sigaction, faults[i], found, NULL, _NSIG / 8, _NSIG / 8);
#else
  (void)i;
#endif
}

static void restore(int i)
{
  struct sigaction action = trial.application[i], found;

  if (__atomic_load_n(&trial.reset[i], __ATOMIC_ACQUIRE))
    action.sa_handler = SIG_DFL; /* and the flags stay, as the system has it */
  sigaction(faults[i], &action, &found);
  if (!is_ours(&found)) /* the application has meanwhile set another */
    sigaction(faults[i], &found, NULL);
  else if (never_set(&action))
    restore_never_set(i);
}

void cpucycles_calm_begin(struct cpucycles_calm *calm)
{
  sigset_t all;

  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &calm->cancel_state);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &calm->mask);
}

void cpucycles_calm_end(const struct cpucycles_calm *calm)
{
  int ignored;

  pthread_sigmask(SIG_SETMASK, &calm->mask, NULL);
  pthread_setcancelstate(calm->cancel_state, &ignored);
}

/* The application's action. A trial that was under way in another thread when this process was
   forked off has left ours, and the application's where it was. */
static void put_aside(int i)
{
  struct sigaction found;

  sigaction(faults[i], NULL, &found);
  if (is_ours(&found))
    return;
  if (stays[i]) { /* the application wants it otherwise, and may lead what it does not want to us */
    stays[i] = 0;
    beneath[i] = trial.application[i];
    __atomic_store_n(&is_beneath[i], 1, __ATOMIC_RELEASE);
  }
  trial.application[i] = found;
  trial.reset[i] = 0;
}

void cpucycles_trial_begin(const struct cpucycles_calm *calm)
{
  int i;

  trial.thread = pthread_self();
  trial.mask = calm->mask;
  trial.armed = 0;
  trial.kept = 0;
  sigfillset(&trial.trial_mask);
  for (i = 0; i < FAULTS; i++) {
    put_aside(i);
    sigdelset(&trial.trial_mask, faults[i]);
  }
  __atomic_store_n(&trial.running, 1, __ATOMIC_RELEASE);
  for (i = 0; i < FAULTS; i++)
    install(i);
  /* A fault that is blocked would end the process. */
  pthread_sigmask(SIG_SETMASK, &trial.trial_mask, NULL);
}

/* Sends a signal once more, with what it carried: to this thread, which the system had chosen
   for it; but one that this thread has blocked, to whom it was sent, as far as it tells. */
static void send_again(siginfo_t *info)
{
#if defined(__linux__) && defined(SYS_rt_sigqueueinfo) && defined(SYS_rt_tgsigqueueinfo) \
  && defined(SYS_gettid)
  if (info->si_code == SI_TKILL || sigismember(&trial.mask, info->si_signo) == 0)
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), info->si_signo, info);
  else
    syscall(SYS_rt_sigqueueinfo, getpid(), info->si_signo, info);
#else
  kill(getpid(), info->si_signo);
#endif
}

void cpucycles_trial_end(void)
{
  sigset_t all;
  int i;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (i = 0; i < FAULTS; i++)
    if (!stays[i])
      restore(i);
  __atomic_store_n(&trial.running, 0, __ATOMIC_RELEASE);
}

/* An ignored signal would be inherited by the next program as such; ours would not. */
void cpucycles_trial_keep(int (*rescue)(int signal, const void *info, void *context),
  const int *signals)
{
  int i;

  __atomic_store_n(&rescuer, rescue, __ATOMIC_RELEASE);
  for (; *signals; signals++)
    for (i = 0; i < FAULTS; i++)
      if (faults[i] == *signals)
        stays[i] = (trial.application[i].sa_flags & SA_SIGINFO)
          || trial.application[i].sa_handler != SIG_IGN;
}

/* No handler leads into an unloaded library, unless somebody keeps it for later. */
__attribute__((destructor)) static void unload(void)
{
  int i;

  for (i = 0; i < FAULTS; i++)
    if (stays[i]) {
      stays[i] = 0;
      restore(i);
    }
}

void cpucycles_trial_replay(void)
{
  siginfo_t info;

  while (trial.kept > 0) {
    int i;

    info = trial.kept_info[0];
    trial.kept--;
    for (i = 0; i < trial.kept; i++)
      trial.kept_info[i] = trial.kept_info[i + 1];
    /* its handler may not come back: nothing else is left to do here but the rest */
    send_again(&info);
  }
}

/* The alternate stack that the system took away for the handler's duration (SS_AUTODISARM) comes
   back with the handler's return, which there was none. */
static void rearm_stack(void)
{
#ifdef __linux__
  const int autodisarm = (int)(1u << 31); /* linux/signal.h, which does not go with signal.h */

  if (trial.stack.ss_flags & autodisarm)
    sigaltstack(&trial.stack, NULL);
#endif
}

int cpucycles_trial(void (*body)(void *), void *argument)
{
  if (sigsetjmp(trial.escape, 0)) {
    rearm_stack();
    pthread_sigmask(SIG_SETMASK, &trial.trial_mask, NULL); /* the handler's mask was on */
    return trial.caught;
  }
  trial.armed = 1;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  body(argument);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  trial.armed = 0;
  return 0;
}
