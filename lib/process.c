/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the process finds once, and keeps: its selection, why others were dropped, and the rate of
   what was selected. And what a thread turns to that has lost its own counter.
   Signals that came meanwhile are let through here, at the end of cpucycles_once(): what is made
   is over then. */

#include "config.h"

#include "lib/library.h"

#include <stddef.h>

static struct {
  struct cpucycles_once selected, explained, rate_found;
  struct cpucycles_selection selection;
  struct cpucycles_counter_info counters[CPUCYCLES_TABLE_LENGTH];
  struct cpucycles_rate_finding rate;
} process;

static void select_counter(void)
{
  cpucycles_select(&cpucycles_host, cpucycles_table, CPUCYCLES_TABLE_LENGTH, process.counters,
    &process.selection);
}

int cpucycles_is_selected(void)
{
  return cpucycles_once_is_done(&process.selected);
}

const struct cpucycles_selection *cpucycles_selected(void)
{
  if (cpucycles_is_selected() || cpucycles_once(&process.selected, select_counter))
    return &process.selection;
  return NULL;
}

static void explain(void)
{
  cpucycles_counters_explain(process.counters, cpucycles_table, CPUCYCLES_TABLE_LENGTH);
}

const struct cpucycles_selection *cpucycles_selected_and_explained(void)
{
  const struct cpucycles_selection *selected = cpucycles_selected();

  if (selected && !cpucycles_once_is_done(&process.explained)
    && !cpucycles_once(&process.explained, explain))
    return NULL;
  return selected;
}

static void find_rate(void)
{
  cpucycles_find_rate(&process.selection, cpucycles_table, &process.rate);
}

const struct cpucycles_rate_finding *cpucycles_found_rate(void)
{
  if (cpucycles_once_is_done(&process.rate_found)
    || cpucycles_once(&process.rate_found, find_rate))
    return &process.rate;
  return NULL;
}

long long cpucycles_next_best(void)
{
  return cpucycles_is_selected() ? cpucycles_reader_read(&process.selection.next_best) : 0;
}

void cpucycles_note(const char *code)
{
  int i;

  for (i = 0; cpucycles_is_selected() && i < CPUCYCLES_TABLE_LENGTH; i++)
    if (process.counters[i].state == CPUCYCLES_SELECTED)
      cpucycles_counter_note(&process.counters[i], code);
}
