/* SPDX-License-Identifier: 0BSD OR MIT */
/* Public interface of libperfex: counts events around a piece of code. perfex_open() opens a group
   of any perf events of Linux. The functions after perfex_print_bench() are those of libperfex on
   IRIX, which count two events and estimate their cost. For Fortran, each of these functions NAME
   also exists as NAME_. For C89 and C++98; includes nothing. Manual: libperfex(3). Events:
   perfex-events(7).

   All functions are thread-safe. Each thread has its own counters, and the process has one table of
   costs. */

#ifndef LIBCPUCYCLES_PERFEX_H
#define LIBCPUCYCLES_PERFEX_H

/* With -pedantic, compilers for C89 and C++98 warn about long long. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A group of events. */
struct perfex_group;

/* A flag of perfex_open(): also counts the threads and children that are created afterwards. Needs
   Linux 4.13. */
#define PERFEX_INHERIT 1

/* A flag of perfex_open(): opens only the first events, as many as the PMU can count at once.
   perfex_group_size() returns their number. */
#define PERFEX_FIRST 2

/* Opens and starts a group of events of the calling thread. events: names, separated by commas and
   perhaps blanks, such as "cycles, instructions, branch-misses"; perfex-events(7) lists them. After
   a name, ":k" counts in the kernel instead of user mode, and ":uk" in both. flags: 0, or a sum of
   PERFEX_INHERIT and PERFEX_FIRST.
   Returns: the group, or 0. The group must be closed with perfex_close().
   Fails: returns 0 and sets errno; perfex_why() returns the reason. EINVAL: a name is malformed.
     ENOTSUP: this CPU does not have an event. ENOSPC: the PMU cannot count all events at once.
     EBUSY: other events have its counters; with PERFEX_FIRST, all of them. ENOENT: there is no PMU.
     Others: libperfex(3).
   Since: 20261121. */
extern struct perfex_group *perfex_open(const char *events, int flags);

/* Stores one count for each event of the group since perfex_open(), in the order of the names. All
   counts are from one moment. The difference of two reads is the count of the code between them.
   Returns: 0.
   Fails: returns -1 and sets errno; perfex_why() returns the reason. EBUSY: the group did not count
     all the time. EPERM: the group counts in another thread, or in the parent process. EBADF: a
     descriptor was closed.
   Since: 20261121. */
extern int perfex_read(struct perfex_group *group, long long counts[]);

/* Returns: the number of events of the group, which is the number of counts that perfex_read()
     stores, from 1 to 32; 0 if group is 0.
   Since: 20261121. */
extern int perfex_group_size(const struct perfex_group *group);

/* Stops and closes the group. Any thread may call this function, once. Does nothing if group is 0.
   Since: 20261121. */
extern void perfex_close(struct perfex_group *group);

/* Returns: a sentence on the last failure of perfex_open(), perfex_read() or perfex_bench() in this
     thread, valid until the next failure.
   Since: 20261121. */
extern const char *perfex_why(void);

/* Stores the counts of one call of function(argument), one for each event of the group, from 0.
   Calls it so many times that reads of the group take less than 0.1 % of a sample, and takes the
   median of 25 samples, without the events of the reads. Instructions, branches and faults are also
   without those of an empty call. Cycles are not, because calls overlap.
   Returns: 0.
   Fails: returns -1 and sets errno; perfex_why() returns the reason. EINVAL: group is 0, and the
     reason is that of the failed perfex_open(), or function is 0. Others: those of perfex_read().
   Since: 20261121. */
extern int perfex_bench(struct perfex_group *group, double counts[],
  void (*function)(void *argument), void *argument);

/* Prints one line to standard output: each event of the group with its count, as perfex_bench()
   stored it, and the instructions per cycle of the last perfex_bench(), with those of the calls, if
   the group has the events "cycles" and "instructions".
   Returns: 0.
   Fails: returns -1 and sets errno if standard output cannot be written. EINVAL: group is 0.
   Since: 20261121. */
extern int perfex_print_bench(const struct perfex_group *group, const double counts[]);

/* Zeroes two counters of the calling thread and starts them. e0, e1: numbers of events; the
   environment variables T5_EVENT0 and T5_EVENT1 override them. Counters that are running are
   stopped first, even if the call fails.
   Returns: the thread's generation number, positive and larger by one than before, or by two if
     counters were running; after 2147483647 comes 1.
   Fails: returns -1 and sets errno. ENOTSUP: an event cannot be counted here; a message on standard
     error contains its number. ENOENT: there is no PMU. Others: libperfex(3).
   Since: 20261121. */
extern int start_counters(int e0, int e1);

/* Reads the two counters and stops them. e0, e1: the arguments of start_counters(), in any order;
   the count of each event is stored through the pointer that follows it.
   Returns: the number that start_counters() returned, if the events were counted all the time
     since; otherwise another positive number. The function cannot detect that the program disabled
     the events for a time. Stopping makes the thread's number larger by one in all cases.
   Fails: returns -1 and sets errno. EINVAL: the counters are running, and e0 and e1 are not the
     arguments of their start; the counters keep running. If the last start failed, errno is the
     errno of the start.
   Threads: a thread cannot read the counters of another.  Since: 20261121. */
extern int read_counters(int e0, long long *c0, int e1, long long *c1);

/* Prints two counts to standard error, with the numbers and descriptions of their events. e0, e1:
   as for start_counters(), so that T5_EVENT0 and T5_EVENT1 override them. Does not change the
   counters.
   Returns: the thread's generation number, positive.
   Fails: returns -1 and sets errno if standard error cannot be written.
   Since: 20261121. */
extern int print_counters(int e0, long long c0, int e1, long long c1);

/* Prints two counts like print_counters(), with their minimum, typical and maximum cost in seconds,
   and the origin of these costs. The first call of this function or of perfex_print_table()
   measures the costs that no file contains, in at most 20 ms of CPU time.
   Returns: the thread's generation number, positive.
   Fails: returns -1 and sets errno if standard error cannot be written.
   Since: 20261121. */
extern int print_costs(int e0, long long c0, int e1, long long c1);

/* Loads costs from a file. They replace measured costs and those of /etc/perfex.costs. Events that
   the file does not contain keep their costs.
   Returns: the thread's generation number, positive.
   Fails: returns -1, sets errno and does not change the table. EINVAL: the file is malformed, too
     long or not regular, which a message on standard error explains. Others: the file cannot be
     read.
   Threads: concurrent calls see either the old table or the new one.  Since: 20261121. */
extern int load_costs(char *CostFileName);

/* Finds an event by its name, such as "branch-misses".
   Returns: its number, from 0 to 31; the smallest if several have that name.
   Fails: returns -1 and sets errno to EINVAL if no event has that name.
   Since: 20261121. */
extern int perfex_event(const char *name);

/* Prints the table of costs to standard output, in the format that load_costs() reads.
   Returns: the thread's generation number, positive.
   Fails: returns -1 and sets errno if standard output cannot be written.
   Since: 20261121. */
extern int perfex_print_table(void);

#ifdef __cplusplus
}
#endif

#ifdef __GNUC__
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif

#endif
