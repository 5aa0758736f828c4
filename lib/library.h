/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the files of lib/ offer each other, in the order in which data flows:
   table -> trial -> scale, extend32 -> precision -> select -> the cpucycles pointer. */

#ifndef CPUCYCLES_LIBRARY_H
#define CPUCYCLES_LIBRARY_H

#include "backends/backend.h"
#include "lib/cpucycles.h"
#include "lib/cpucycles/inline.h"
#include "lib/extend32.h"
#include "lib/frequency.h"
#include "lib/osclock.h"
#include "lib/thread.h"

#include <signal.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* table.c: the counters that were built, in the order of backends.def. */

struct cpucycles_entry {
  const char *name, *summary;
  const struct cpucycles_backend *backend;
};

enum {
  CPUCYCLES_TABLE_LENGTH = 0
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a term of a sum */
#define CPUCYCLES_BACKEND(id, name, summary) +HAVE_BACKEND_##id
#include "backends/backends.def"
#undef CPUCYCLES_BACKEND
};

extern const struct cpucycles_entry cpucycles_table[CPUCYCLES_TABLE_LENGTH];

/* trial.c, or trial-windows.c: runs code with the faults of the calling thread caught. */

/* Between begin and end, the calling thread is not cancelled, and signals wait. */
void cpucycles_calm_begin(struct cpucycles_calm *calm);
void cpucycles_calm_end(const struct cpucycles_calm *calm);

/* Within a calm: puts handlers for faults in place of the program's, and puts those back; then
   sends signals again that somebody sent to this thread meanwhile. They are delivered when the
   calm ends. Once a process, in one thread. */
void cpucycles_trial_begin(const struct cpucycles_calm *calm);
void cpucycles_trial_end(void);

/* After the calm: calls the program's handlers for signals that somebody sent to this thread
   meanwhile and that the system did not let trial_end() send again. */
void cpucycles_trial_replay(void);

/* Between them: when the trial ends, handlers are left for these signals, up to a 0. They pass
   faults to rescue() first, in whatever thread, and all else to the program. */
void cpucycles_trial_keep(int (*rescue)(int signal, const void *info, void *context),
  const int *signals);

/* Between them: calls body(argument). Returns 0, or the signal that cut it short (where faults are
   none: what would be the signal). What body had acquired by then is the caller's to let go. Does
   not nest. */
int cpucycles_trial(void (*body)(void *), void *argument);

/* scale.c: multiplies a counter up to cycles, exactly and without overflow. */

struct cpucycles_scale {
  unsigned long long multiplier; /* 0: not scaled */
  int shift;                     /* 1..63 */
};

/* The scale that turns units of which there are `rate` a second into cycles of which there are
   `persecond`. Both from 1 to 2^62, and their ratio below 2^61. */
struct cpucycles_scale cpucycles_scale_between(long long rate, long long persecond);

/* A counter held against the OS clock. */
struct cpucycles_gauge {
  long long (*read)(void);
  int width;             /* of read(): 64 or 32 */
  long long (*now)(void); /* nanoseconds */
  long long left;        /* nanoseconds that measuring may take yet, for all counters together */
};

/* Enough for a counter without a stated rate at three tries, and for four with one. */
#define CPUCYCLES_GAUGE_TIME 4500000LL

/* Finds how a counter is to be scaled. stated: its units a second as hardware or kernel state them,
   which a measurement must confirm within 1 %; 0: nobody does. Then three measurements must show
   the same multiple of 1, 1/2, 1/4, 1/8 or 1/16, which goes to *sixteenths; else 0 does. Returns 0,
   or the reason for which the counter is to be dropped. */
const char *cpucycles_scale_find(struct cpucycles_gauge *gauge, long long stated,
  long long persecond, long long *sixteenths);

/* What the two are based on. The multiple, within 0.05 %, that a unit is in cycles, in sixteenths;
   0: it is none. Both from 1 to 10^12. */
long long cpucycles_scale_multiple(long long rate, long long persecond);
int cpucycles_rates_agree(long long stated, long long measured);

/* A counter's rate, measured; 0: cannot be said within 1 %. */
long long cpucycles_gauge_rate(struct cpucycles_gauge *gauge);

static inline long long cpucycles_scale_apply(struct cpucycles_scale scale, long long count)
{
  return cpucycles_inline_scale(count, scale.multiplier, scale.shift);
}

/* A counter as it is read in the end: the backend's read(), extended to 64 bits, then the scale. */
struct cpucycles_reader {
  long long (*read)(void);
  struct cpucycles_extension *extension; /* 0: read() counts in 64 bits */
  struct cpucycles_scale scale;
};

/* Is it read() and nothing else? */
static inline int cpucycles_reader_is_direct(const struct cpucycles_reader *reader)
{
  return !reader->extension && !reader->scale.multiplier;
}

static inline long long cpucycles_reader_read(const struct cpucycles_reader *reader)
{
  long long count = reader->extension ? cpucycles_extend32(reader->extension) : reader->read();

  return reader->scale.multiplier ? cpucycles_scale_apply(reader->scale, count) : count;
}

/* precision.c: the score of a counter. */

enum cpucycles_steps { CPUCYCLES_STEPS_UP, CPUCYCLES_STEPS_DOWN, CPUCYCLES_STEPS_NOWHERE };

/* Reads 1001 times, and again, ten times at most, until no read is below the one before it and
   at least one is above. Then *smallest is the smallest nonzero difference. Returns what the
   last try saw. With glance, for a counter that cannot be chosen any more, 101 reads that go up
   are enough; where they do not, it is judged as any other. */
enum cpucycles_steps cpucycles_precision(const struct cpucycles_reader *reader, int glance,
  long long *smallest);

/* rate.c: counts per second. */

/* Of what read() counts, by the OS clock, in 1 ms. 0: cannot be said within 1 %. */
long long cpucycles_measured_rate(long long (*read)(void));

/* The same, by a clock that counts nanoseconds. */
long long cpucycles_rate_by(long long (*read)(void), long long (*now)(void));

/* What the counter, which is open, states of itself, if a measurement agrees within 1 %, or
   cannot tell; else 0. The measured rate if the stated one is rounded. May raise a signal. */
long long cpucycles_stated_rate(const struct cpucycles_backend *backend);

/* counters.c: what was tried, and why it was dropped. */

/* Fills in what is known of a counter before it is tried. */
void cpucycles_counter_describe(struct cpucycles_counter_info *, const struct cpucycles_entry *);

/* Marks it dropped. The code decides the sentence; for errno values, the errno decides the code,
   unless the backend gave one. For both, the backend's remedy stands. */
void cpucycles_counter_drop(struct cpucycles_counter_info *, const char *reason);
void cpucycles_counter_drop_errno(struct cpucycles_counter_info *, int error,
  const struct cpucycles_why *);
void cpucycles_counter_drop_signal(struct cpucycles_counter_info *, int signal,
  const struct cpucycles_why *);

/* Fills in what the counter's backend can say of why it was dropped; and once a process, of all.
   Unguarded, with no lock and no mask: the program's handlers may answer what a filter traps, and
   may leave by a jump. Several threads may be here at once; all find the same. */
void cpucycles_counter_explain(struct cpucycles_counter_info *, const struct cpucycles_backend *);
void cpucycles_counters_explain(struct cpucycles_counter_info *infos,
  const struct cpucycles_entry *table, int count);

/* Says of the selected counter what has become of it in some thread. Async-signal-safe. */
void cpucycles_counter_note(struct cpucycles_counter_info *, const char *code);

/* choice.c: what the environment variable CPUCYCLES_IMPLEMENTATION says, a list of names. */

/* Is there a name in it? list may be 0. */
int cpucycles_choice_is_made(const char *list);

/* Is the counter's among them? */
int cpucycles_choice_names(const char *list, const char *counter);

/* Once all is decided: says in words which of the names could not be used, and why; the empty
   string if there is none. */
void cpucycles_choice_report(const char *list, const struct cpucycles_counter_info *infos,
  int count, char *skipped, int size);

/* select.c: tries every counter, or those that the environment asks for, and chooses. */

struct cpucycles_selection {
  struct cpucycles_frequency frequency;
  struct cpucycles_counter_info *counters; /* one per entry of the table */
  int count;
  const char *implementation; /* the chosen one's name */
  /* which names of CPUCYCLES_IMPLEMENTATION could not be used, in words; or empty */
  char skipped[320];
  struct cpucycles_reader reader;
  const struct cpucycles_backend *backend; /* the chosen one; 0: none works */
  unsigned int plain; /* its own, where its read() is not extended */
  struct cpucycles_timer_info timer; /* of the chosen one, once asked */
  /* for threads that cannot have the chosen one, or no longer */
  struct cpucycles_reader next_best;
  struct cpucycles_extension extension; /* what a reader's extension leads to, if anywhere */
  struct cpucycles_gauge gauge;         /* while it is made */
};

/* Tries each entry of table, or those that host's environment names, and chooses among them;
   among all where none of those can be used. counters: room for `count` of them. */
void cpucycles_select(const struct cpucycles_host *host, const struct cpucycles_entry *table,
  int count, struct cpucycles_counter_info *counters, struct cpucycles_selection *selection);

/* rate.c again: what hardware and system say of the selected counter, and its counts per second; 0:
   not known. Unguarded, as cpucycles_counters_explain(). */

const struct cpucycles_timer_info *cpucycles_ask_timer(struct cpucycles_selection *selection);

/* Of the published counter. */
long long cpucycles_find_rate(const struct cpucycles_selection *selection);

/* process.c: one-time initialisation. */

/* The selection: made by the first call, by whatever thread, and constant from then on. 0 if
   called from a signal handler or allocator that interrupted this thread's own selection. Leaves
   errno alone. */
struct cpucycles_selection *cpucycles_selected(void);

/* Has it been made? */
int cpucycles_is_selected(void);

#pragma GCC visibility pop

#endif
