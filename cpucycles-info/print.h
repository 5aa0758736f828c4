/* SPDX-License-Identifier: 0BSD OR MIT */
/* Prints a filled report to standard output: print.c as text or JSON, plot.c as charts. */

#ifndef CPUCYCLES_PRINT_H
#define CPUCYCLES_PRINT_H

#include "cpucycles-info/report.h"

/* Prints the lines of the public-domain tool, what was found, and the summary. With `all`, prints
   every line of every counter, and the warnings in full. */
void print_text(const struct report *report, int all);

/* Prints what fill_surroundings() fills. */
void print_text_of_surroundings(const struct report *report);

void print_json(const struct report *report);
void print_plot(const struct report *report);

#endif
