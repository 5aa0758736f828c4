/* SPDX-License-Identifier: 0BSD OR MIT */
/* Times a section inside of a program in core cycles, also if the counter does not count them:
   finds the ratio of core cycles and counts directly before and after the section, and uses it if
   both agree. The result is the median of 25 sections, because interruptions change single ones.

   cc -O2 -o section section.c $(pkg-config --cflags --libs cpucycles) */

#include <cpucycles.h>

#include <stdio.h>
#include <stdlib.h>

enum { SECTIONS = 25, MOST_TRIES = 10 };

static volatile unsigned int hash;

/* Returns 0 if the ratio cannot be found. */
static double find_ratio(void)
{
  double ratio = cpucycles_core_ratio();
  int tries;

  for (tries = 0; !(ratio > 0) && tries < MOST_TRIES; tries++)
    ratio = cpucycles_core_ratio();
  return ratio;
}

/* Returns core cycles; a negative number if they are not known. */
static double time_section(void)
{
  long long overhead = cpucycles_section_overhead(), begin, counts;
  double before = find_ratio(), after, smaller, larger;
  unsigned int i;

  begin = cpucycles_section_begin();
  for (i = 0; i < 10000; i++)
    hash = (hash ^ i) * 16777619;
  counts = cpucycles_section_end() - begin - overhead;

  after = find_ratio();
  smaller = before < after ? before : after;
  larger = before < after ? after : before;
  return smaller > 0 && larger <= 1.01 * smaller ? smaller * (double)counts : -1;
}

static int compare(const void *one, const void *other)
{
  double a = *(const double *)one, b = *(const double *)other;

  return (a > b) - (a < b);
}

int main(void)
{
  double cycles[SECTIONS];
  int known = 0, tries;

  for (tries = 0; known < SECTIONS && tries < MOST_TRIES * SECTIONS; tries++) {
    cycles[known] = time_section();
    if (cycles[known] >= 0)
      known++;
  }
  if (known < SECTIONS) {
    fprintf(stderr, "The core cycles of the section are not known.\n");
    return 1;
  }
  qsort(cycles, SECTIONS, sizeof cycles[0], compare);
  printf("%.0f core cycles in a section\n", cycles[SECTIONS / 2]);
  return 0;
}
