/* SPDX-License-Identifier: 0BSD OR MIT */
/* The printers text.c, json.c and plot.c print a filled report to standard output. For most
   sections of the report there is a function in text.c and one in json.c. */

#ifndef CPUCYCLES_PRINT_H
#define CPUCYCLES_PRINT_H

#include "cpucycles-info/report.h"

void print_text(const struct report *report);
/* Prints what fill_surroundings() fills. */
void print_text_of_surroundings(const struct report *report);
void print_json(const struct report *report);
void print_plot(const struct report *report);

#endif
