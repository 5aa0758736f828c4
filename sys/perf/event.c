/* SPDX-License-Identifier: 0BSD OR MIT */
/* Perf events of the calling thread. */

#include "config.h"
#ifdef HAVE_PERF_EVENTS

#include "sys/perf/event.h"

#include "sys/perf/kernel.h"
#include "sys/perf/page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PMUs of Apple require that guests are excluded, and some other PMUs cannot exclude the kernel. */
int cpuc_perf_event_open(struct cpuc_perf_event *event, struct perf_event_attr *wanted, int leader,
  int may_count_kernel)
{
  enum { AS_WANTED, WITHOUT_GUEST, WITH_KERNEL };
  int last = may_count_kernel ? WITH_KERNEL : WITHOUT_GUEST, i;

  event->id = 0;
  for (i = AS_WANTED; i <= last; i++) {
    wanted->exclude_guest = i == WITHOUT_GUEST;
    if (i == WITH_KERNEL)
      wanted->exclude_kernel = wanted->exclude_hv = 0;
    event->descriptor = cpuc_perf_kernel_open(wanted, leader);
    if (event->descriptor >= 0 || (errno != EOPNOTSUPP && errno != EINVAL))
      break;
  }
  return event->descriptor >= 0
      && cpuc_perf_kernel_control(event->descriptor, PERF_EVENT_IOC_ID, &event->id) == 0
    ? 0 : errno;
}

/* From a quarter of the limit, or from 1024 if 1024 is less, up to half of the limit. The kernel
   gives files of the program lower numbers as long as a lower number is free. If the descriptor had
   a low number and the program closed it, the number would soon belong to another file, from which
   the library would read once. The numbers below 3 are the standard streams, and select(2) works
   only with numbers below 1024. */
int cpuc_perf_event_move_up(struct cpuc_perf_event *event)
{
  struct rlimit limit = { 0, 0 };
  int begin, end, moved;

  getrlimit(RLIMIT_NOFILE, &limit);
  end = limit.rlim_cur / 2 < INT_MAX ? (int)(limit.rlim_cur / 2) : INT_MAX;
  begin = end / 2 < 1024 ? end / 2 : 1024;
  moved = fcntl(event->descriptor, F_DUPFD_CLOEXEC, begin > 3 ? begin : 3);
  if (moved < 0)
    return EMFILE;
  syscall(SYS_close, event->descriptor);
  event->descriptor = moved;
  return moved < end ? 0 : EMFILE;
}

int cpuc_perf_event_owns_descriptor(const struct cpuc_perf_event *event)
{
  uint64_t id = 0;

  if (event->descriptor < 0)
    return 0;
  if (event->id == 0)
    return 1; /* just opened, and not identified yet */
  return cpuc_perf_kernel_control(event->descriptor, PERF_EVENT_IOC_ID, &id) == 0
    && id == event->id;
}

/* close() of the C library is a cancellation point. */
void cpuc_perf_event_close_descriptor(struct cpuc_perf_event *event, int must_stop)
{
  if (cpuc_perf_event_owns_descriptor(event)) {
    if (must_stop)
      cpuc_perf_kernel_control(event->descriptor, PERF_EVENT_IOC_DISABLE, NULL);
    syscall(SYS_close, event->descriptor);
  }
  event->descriptor = -1;
}

int cpuc_perf_event_map_pages(const struct cpuc_perf_event *events, int count,
  const volatile struct perf_event_mmap_page **pages)
{
  int i, has_access = 1;

  for (i = 0; i < count; i++) {
    pages[i] = has_access ? cpuc_perf_kernel_map(events[i].descriptor) : NULL;
    has_access = pages[i] && cpuc_perf_page_gives_access(pages[i]);
  }
  if (!has_access)
    cpuc_perf_event_unmap_pages(pages, count);
  return has_access;
}

void cpuc_perf_event_unmap_pages(const volatile struct perf_event_mmap_page **pages, int count)
{
  int i;

  for (i = 0; i < count; i++) {
    if (pages[i])
      cpuc_perf_kernel_unmap(pages[i]);
    pages[i] = NULL;
  }
}

void cpuc_perf_event_visit_page(
  void (*visit)(const volatile struct perf_event_mmap_page *page, void *argument), void *argument)
{
  struct perf_event_attr dummy
    = cpuc_perf_event_attributes(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, CPUC_PERF_USER);
  struct cpuc_perf_event event = { cpuc_perf_kernel_open(&dummy, -1), 0 };
  const struct perf_event_mmap_page *page
    = event.descriptor >= 0 ? cpuc_perf_kernel_map(event.descriptor) : NULL;

  if (page) {
    visit(page, argument);
    cpuc_perf_kernel_unmap(page);
  }
  cpuc_perf_event_close_descriptor(&event, 0);
}

int cpuc_perf_event_try(struct cpuc_perf_event *event, struct perf_event_attr *wanted,
  int may_count_kernel)
{
  int error = cpuc_perf_event_open(event, wanted, -1, may_count_kernel);

  cpuc_perf_event_close_descriptor(event, 0);
  return error;
}
#endif
