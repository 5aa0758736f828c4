/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links if libperfex can be built, that is, if the headers of the kernel declare perf events and
   their groups. */

#ifndef __linux__
#error the target is not Linux
#endif

#include <linux/perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local struct perf_event_attr event = {
  .type = PERF_TYPE_HW_CACHE,
  .config = PERF_COUNT_HW_CACHE_LL,
  .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
  .exclude_kernel = 1,
};

static pthread_key_t key;

int main(void)
{
  int descriptor = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

  return pthread_key_create(&key, NULL) != 0 || ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0) != 0;
}
