/* SPDX-License-Identifier: 0BSD OR MIT */
/* What failed, as a message on standard error or as the sentence of perfex_why(). */

#ifndef PERFEX_WHY_H
#define PERFEX_WHY_H

/* Stores the sentence that perfex_why() returns in this thread, cut to 511 bytes, and sets errno to
   `error`. Returns -1. */
int pfx_why(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "libperfex: " and the message as a line on standard error, cut to 511 bytes. */
void pfx_why_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
