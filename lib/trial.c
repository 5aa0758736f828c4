/* SPDX-License-Identifier: 0BSD OR MIT */
/* Runs code with the faults of the calling thread caught. Handlers are process-wide, so those of the
   application are put aside for the duration, still get everything that is not ours, and come back exactly.
   Who may call when is the caller's matter: one thread at a time. */

#include "config.h"

#include "lib/library.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef HAVE_SYS_SYSCALL_H
#include <sys/syscall.h>
#endif

/* What a counter that is not allowed can raise. */
static const int faults[] = { SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS };

enum { FAULTS = sizeof faults / sizeof faults[0] };

/* What a signal handler must find cannot be anywhere else. The actions stay valid after the end of the trial:
   a handler entered just before may still be reading them. */
static struct {
  pthread_t thread; /* the one on trial */
  int running;      /* is it? */
  sigset_t mask;    /* its own, of before and after */
  sigset_t trial_mask;
  volatile sig_atomic_t armed; /* is body() running? */
  volatile sig_atomic_t caught;
  sigjmp_buf escape;
  struct sigaction application[FAULTS];
  int reset[FAULTS]; /* an SA_RESETHAND handler has had its one call */
  volatile sig_atomic_t waiting[FAULTS];
  siginfo_t waiting_info[FAULTS];
} trial;

/* Sent by somebody, and not raised by what the thread itself did. */
static int was_sent(const siginfo_t *info)
{
  switch (info->si_code) {
  case SI_USER:
  case SI_QUEUE:
#ifdef SI_TKILL
  case SI_TKILL:
#endif
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

  if ((action->sa_flags & SA_RESETHAND) && __atomic_exchange_n(&trial.reset[i], 1, __ATOMIC_ACQ_REL))
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
    siglongjmp(trial.escape, 1);
  }
  if (mine && was_sent(info) && sigismember(&trial.mask, signal) == 1) {
    /* This thread had it blocked, for its own reasons: it gets it back, still pending, at the end. */
    trial.waiting_info[i] = *info;
    trial.waiting[i] = 1;
  } else {
    pass_on(i, info, context);
  }
  errno = saved_errno;
}

/* The same circumstances as the application's own handler has: stack, mask, restarts. */
static void install(int i)
{
  struct sigaction action = trial.application[i];

  action.sa_flags &= SA_ONSTACK | SA_NODEFER | SA_RESTART;
  if (!(trial.application[i].sa_flags & SA_SIGINFO) && trial.application[i].sa_handler == SIG_IGN)
    action.sa_flags |= SA_RESTART; /* ignored signals interrupt nothing */
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = on_signal;
  sigaction(faults[i], &action, NULL);
}

#if defined(__linux__) && defined(SYS_rt_sigaction)
static int never_set(const struct sigaction *action)
{
  int member;

  for (member = 1; member < _NSIG; member++) /* the type has room for more, which nobody fills in */
    if (sigismember(&action->sa_mask, member) == 1)
      return 0;
  return action->sa_handler == SIG_DFL && action->sa_flags == 0;
}
#endif

static void restore(int i)
{
  struct sigaction action = trial.application[i], found;

  if (__atomic_load_n(&trial.reset[i], __ATOMIC_ACQUIRE)) {
    action.sa_flags &= ~SA_SIGINFO;
    action.sa_handler = SIG_DFL;
  }
  sigaction(faults[i], &action, &found);
  if (!(found.sa_flags & SA_SIGINFO) || found.sa_sigaction != on_signal) {
    /* The application has meanwhile set another. */
    sigaction(faults[i], &found, NULL);
    return;
  }
#if defined(__linux__) && defined(SYS_rt_sigaction)
  if (never_set(&action)) {
    /* The C library adds a flag of its own (SA_RESTORER) to whatever it sets. All zero is "never set" in
       every layout that the kernel has; the size of its mask is the fourth argument, on sparc the fifth. */
    static const long zero[16];

    syscall(SYS_rt_sigaction, faults[i], zero, NULL, _NSIG / 8, _NSIG / 8);
  }
#endif
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

/* The application's action. A trial that was under way in another thread when this process was forked off
   has left ours, and the application's where it was. */
static void put_aside(int i)
{
  struct sigaction found;

  sigaction(faults[i], NULL, &found);
  if ((found.sa_flags & SA_SIGINFO) && found.sa_sigaction == on_signal)
    return;
  trial.application[i] = found;
  trial.reset[i] = 0;
}

void cpucycles_trial_begin(const struct cpucycles_calm *calm)
{
  int i;

  trial.thread = pthread_self();
  trial.mask = calm->mask;
  trial.armed = 0;
  sigfillset(&trial.trial_mask);
  for (i = 0; i < FAULTS; i++) {
    put_aside(i);
    trial.waiting[i] = 0;
    sigdelset(&trial.trial_mask, faults[i]);
  }
  __atomic_store_n(&trial.running, 1, __ATOMIC_RELEASE);
  for (i = 0; i < FAULTS; i++)
    install(i);
  /* A fault that is blocked would end the process. */
  pthread_sigmask(SIG_SETMASK, &trial.trial_mask, NULL);
}

/* Sends a signal that came too early once more, to whom it was sent, with what it carried. */
static void send_again(int i)
{
#if defined(__linux__) && defined(SYS_rt_sigqueueinfo) && defined(SYS_rt_tgsigqueueinfo) \
  && defined(SYS_gettid)
  siginfo_t *info = &trial.waiting_info[i];

  if (info->si_code == SI_TKILL)
    syscall(SYS_rt_tgsigqueueinfo, getpid(), (int)syscall(SYS_gettid), faults[i], info);
  else
    syscall(SYS_rt_sigqueueinfo, getpid(), faults[i], info);
#else
  kill(getpid(), faults[i]);
#endif
}

void cpucycles_trial_end(void)
{
  sigset_t all;
  int i;

  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
  for (i = 0; i < FAULTS; i++)
    restore(i);
  __atomic_store_n(&trial.running, 0, __ATOMIC_RELEASE);
  for (i = 0; i < FAULTS; i++)
    if (trial.waiting[i])
      send_again(i);
}

int cpucycles_trial(void (*body)(void *), void *argument)
{
  if (sigsetjmp(trial.escape, 0)) {
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
