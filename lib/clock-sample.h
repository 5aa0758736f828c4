/* SPDX-License-Identifier: 0BSD OR MIT */
/* A counter held against a clock: one of the two is read between two reads of the other. */

#ifndef CPUCYCLES_CLOCK_SAMPLE_H
#define CPUCYCLES_CLOCK_SAMPLE_H

#pragma GCC visibility push(hidden)

struct cpucycles_sample {
  long long outer; /* the first read of the outer one, modulo 2^64 */
  long long inner;
  long long width; /* between the reads of the outer one: the error is less */
};

/* Reads `inner` between two reads of `outer`. */
struct cpucycles_sample cpucycles_sample(long long (*outer)(void), long long (*inner)(void));

/* The tightest of `tries` samples, or the first that is not wider than `enough`. One in which
   `outer` ran backward is the widest. */
struct cpucycles_sample cpucycles_tightest_sample(long long (*outer)(void),
  long long (*inner)(void), int tries, long long enough);

#pragma GCC visibility pop

#endif
