/* SPDX-License-Identifier: 0BSD OR MIT */
/* The step of a counter or clock: the smallest positive difference of two adjacent reads. */

#ifndef CPUCYCLES_STEP_H
#define CPUCYCLES_STEP_H

/* Returns later - earlier modulo 2^64, as programs subtract counts. */
static inline long long cpuc_step_between(long long earlier, long long later)
{
  return (long long)((unsigned long long)later - (unsigned long long)earlier);
}

/* Reads that are added one by one. Begin with the first read, and the step 0. */
struct cpuc_step {
  long long last;     /* the read that was added last */
  long long smallest; /* the step; 0: no read was above the read before it */
};

/* Adds a read. Returns its difference from the read before it. */
static inline long long cpuc_step_add(struct cpuc_step *step, long long read)
{
  long long difference = cpuc_step_between(step->last, read);

  step->last = read;
  if (difference > 0 && (step->smallest == 0 || difference < step->smallest))
    step->smallest = difference;
  return difference;
}

#endif
