/* SPDX-License-Identifier: 0BSD OR MIT */
/* Page faults, whose number a test knows exactly. */

#ifndef CPUCYCLES_PAGE_FAULTS_H
#define CPUCYCLES_PAGE_FAULTS_H

#include "tests/suites/child.h"

enum { PAGES = 64 };

static _Thread_local volatile char *mapping;

/* Maps pages that were never touched, so the first write to each page is a fault. */
static inline void map_pages(int pages)
{
  size_t size = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
  void *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  ck_assert_ptr_ne(mapped, MAP_FAILED);
  madvise(mapped, size, MADV_NOHUGEPAGE);
  mapping = mapped;
}

/* Not sanitized, because sanitizers touch pages of their own. */
static __attribute__((noinline, no_sanitize("address", "thread"))) void touch(int pages)
{
  long size = sysconf(_SC_PAGESIZE);
  int i;

  for (i = 0; i < pages; i++)
    mapping[i * size] = 1;
}

#endif
