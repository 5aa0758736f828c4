/* SPDX-License-Identifier: 0BSD OR MIT */
/* What each counter that is a perf event has beside its method, which it defines after including
   this. There is no guard: a test compiles two such counters in one file, with other names. */

static const struct cpucycles_perf_method method;

/* Why it was not opened. */
static struct cpucycles_perf_refusal refused;

static int open_counter(struct cpucycles_why *why)
{
  return cpucycles_perf_open(&method, why);
}

static void explain_refusal(int error, int signal, struct cpucycles_why *why)
{
  cpucycles_perf_explain(&method, error, signal, why);
}
