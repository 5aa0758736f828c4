/* SPDX-License-Identifier: 0BSD OR MIT */
/* Static functions of each counter that reads perf events. They call the shared code with the
   counter's `method`, which the counter's file defines after it includes this one. No include
   guard: a test compiles two such counters in one file, under other names. */

static const struct cpucycles_perf_method method;

static struct cpucycles_perf_refusal refused;

static int open_counter(struct cpucycles_why *why)
{
  return cpucycles_perf_open(&method, why);
}

static void explain_refusal(int error, int signal, struct cpucycles_why *why)
{
  cpucycles_perf_explain(&method, error, signal, why);
}
