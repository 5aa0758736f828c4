/* SPDX-License-Identifier: 0BSD OR MIT */
/* Public interface of libperfex: counts of two hardware events around a piece of code, and what
   they cost. The interface of IRIX's libperfex, on Linux's perf events. Stands alone in C89 and
   C++98. Each function NAME is there for Fortran, too, as NAME_. Full text: libperfex(3); the
   events: perfex-events(7). */

#ifndef PERFEX_H
#define PERFEX_H

/* long long is younger than C89 and C++98, whose pedants complain. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroes two counters of the calling thread and starts them. e0, e1: numbers of events; the
   environment variables T5_EVENT0 and T5_EVENT1 override them. What was running is stopped, also if
   this fails.
   Returns: the generation number of the thread's counters, positive, and larger by one than before;
     after 2147483647 comes 1.
   Fails: by -1 and errno. ENOTSUP: a number that nothing here counts; standard error says which
     one. ENOENT: there is no PMU. Others: libperfex(3).
   Threads: safe; each has its own.  Since: 20261121. */
extern int start_counters(int e0, int e1);

/* Reads the two counters, and stops them. e0, e1: as start_counters() was given them, in any order;
   each one's count goes to where the argument behind it points.
   Returns: the generation number of what it has read: what start_counters() returned, if that count
     is whole; else another positive number. Stopping then makes the thread's number larger by one.
   Fails: by -1 and errno. EINVAL: these are not the events that were started; they go on. Where the
     thread's last start failed: as that did.
   Threads: safe; what another thread started is not the caller's to read.  Since: 20261121. */
extern int read_counters(int e0, long long *c0, int e1, long long *c1);

/* Prints two counts to standard error, by the names of their events; no counter is touched.
   Returns: the generation number of the thread's counters, positive.
   Fails: by -1 and errno, if that cannot be written.
   Threads: safe.  Since: 20261121. */
extern int print_counters(int e0, long long c0, int e1, long long c1);

/* The same, with the time that each count stands for, in seconds, at the least, typically and at
   the most, and where the table of costs comes from. The first call measures what no file states,
   in at most 20 ms of the CPU.
   Returns: the generation number of the thread's counters, positive.
   Fails: by -1 and errno, if that cannot be written.
   Threads: safe; the process has one table.  Since: 20261121. */
extern int print_costs(int e0, long long c0, int e1, long long c1);

/* Takes costs from a file, in place of those that were measured or are in /etc/perfex.costs; other
   events keep theirs.
   Returns: the generation number of the thread's counters, positive.
   Fails: by -1 and errno, the table being as it was. EINVAL: the file is malformed; standard error
     says in which line. Others: as it could not be read.
   Threads: safe; who prints meanwhile has the old table or the new one.  Since: 20261121. */
extern int load_costs(char *CostFileName);

/* Returns: the number of an event, from 0 to 31, by its name, such as "branch-misses".
   Fails: by -1 and EINVAL, if no event has that name.
   Threads: safe.  Since: 20261121. */
extern int perfex_event(const char *name);

/* Prints the table of costs to standard output, as a file that load_costs() takes.
   Returns: the generation number of the thread's counters, positive.
   Fails: by -1 and errno, if that cannot be written.
   Threads: safe.  Since: 20261121. */
extern int perfex_print_table(void);

#ifdef __cplusplus
}
#endif

#ifdef __GNUC__
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif

#endif
