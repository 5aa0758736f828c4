/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests the first call of a process on Windows, from many threads; the answers of the functions
   after it; and the clocks. */

#include "config.h"

#include "include/cpucycles.h"
#include "include/cpucycles/inline.h"
#include "sys/os-clock.h"

#include "tests/suites/counters.h"
#include "tests/suites/suite.h"

#include <sys/time.h>

enum { THREADS = 16 };

static HANDLE all_threads_ready;

static DWORD CALLBACK call_together(void *name)
{
  WaitForSingleObject(all_threads_ready, INFINITE);
  if (cpucycles() < 0)
    return 1;
  *(const char **)name = cpucycles_implementation();
  return 0;
}

TEST_LOOP(sixteen_threads_make_the_first_call_together, 20)
{
  HANDLE threads[THREADS];
  const char *names[THREADS];
  DWORD status;
  int i;

  all_threads_ready = CreateEventA(NULL, TRUE, FALSE, NULL);
  for (i = 0; i < THREADS; i++) {
    threads[i] = CreateThread(NULL, 0, call_together, &names[i], 0, NULL);
    ck_assert_ptr_nonnull(threads[i]);
  }
  Sleep(1);
  SetEvent(all_threads_ready);
  ck_assert_int_eq(WaitForMultipleObjects(THREADS, threads, TRUE, 60000), WAIT_OBJECT_0);
  for (i = 0; i < THREADS; i++) {
    ck_assert(GetExitCodeThread(threads[i], &status));
    ck_assert_int_eq(status, 0);
    ck_assert_ptr_eq(names[i], names[0]);
  }
  ck_assert(count_increases());
}

TEST(every_function_answers)
{
  ck_assert_int_eq(check_every_answer(), 0);
}

TEST(clocks_of_the_system_work)
{
  const struct cpucycles_counter_info *counter;
  int i, found = 0;

  for (i = 0; (counter = cpucycles_counter(i)) != NULL; i++)
    if (strcmp(counter->name, "default-windows") == 0
      || strcmp(counter->name, "default-gettimeofday") == 0) {
      ck_assert_msg(counter->state != CPUCYCLES_DROPPED, "%s: %s", counter->name,
        counter->explanation);
      found++;
    }
  ck_assert_int_eq(found, 2);
}

TEST(clocks_agree_with_the_systems_own)
{
  struct timeval before, after;
  long long wall, monotonic, elapsed;
  int i, agree = 0;

  gettimeofday(&before, NULL);
  wall = cpuc_os_clock_wall_microseconds();
  gettimeofday(&after, NULL);
  /* the steps of the two clocks differ by up to 16 ms */
  ck_assert_int_ge(wall, before.tv_sec * 1000000LL + before.tv_usec - 16000);
  ck_assert_int_le(wall, after.tv_sec * 1000000LL + after.tv_usec + 16000);
  for (i = 0; i < 20 && !agree; i++) { /* other processes may run between two reads */
    DWORD begin = GetTickCount();

    wall = cpuc_os_clock_wall_microseconds();
    monotonic = cpuc_os_clock_monotonic();
    Sleep(500);
    elapsed = (GetTickCount() - begin) * 1000000LL;
    monotonic = cpuc_os_clock_monotonic() - monotonic;
    wall = (cpuc_os_clock_wall_microseconds() - wall) * 1000;
    /* within a tenth, because GetTickCount() advances in steps of up to 16 ms */
    agree = llabs(monotonic - elapsed) < elapsed / 10 && llabs(wall - elapsed) < elapsed / 10;
  }
  ck_assert(agree);
}

SUITE("first call on Windows")
