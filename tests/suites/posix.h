/* SPDX-License-Identifier: 0BSD OR MIT */
/* Optional parts of POSIX that tests use: barriers, which macOS lacks, and SIGRTMAX, the highest
   signal number. */

#ifndef CPUCYCLES_TESTS_POSIX_H
#define CPUCYCLES_TESTS_POSIX_H

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#if !defined(_POSIX_BARRIERS) || _POSIX_BARRIERS <= 0

typedef struct {
  pthread_mutex_t mutex;
  pthread_cond_t all_have_arrived;
  unsigned int threads, waiting, round;
} pthread_barrier_t;

static inline int pthread_barrier_init(pthread_barrier_t *barrier, const void *unused,
  unsigned int threads)
{
  (void)unused;
  barrier->threads = threads;
  barrier->waiting = barrier->round = 0;
  pthread_mutex_init(&barrier->mutex, NULL);
  return pthread_cond_init(&barrier->all_have_arrived, NULL);
}

static inline int pthread_barrier_wait(pthread_barrier_t *barrier)
{
  unsigned int round;

  pthread_mutex_lock(&barrier->mutex);
  round = barrier->round;
  if (++barrier->waiting == barrier->threads) {
    barrier->waiting = 0;
    barrier->round++;
    pthread_cond_broadcast(&barrier->all_have_arrived);
  }
  while (barrier->round == round)
    pthread_cond_wait(&barrier->all_have_arrived, &barrier->mutex);
  pthread_mutex_unlock(&barrier->mutex);
  return 0;
}

#endif

#ifndef SIGRTMAX
#define SIGRTMAX (NSIG - 1)
#endif

#endif
