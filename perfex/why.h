/* SPDX-License-Identifier: 0BSD OR MIT */
/* The sentence on the last failure in a thread. */

#ifndef PERFEX_WHY_H
#define PERFEX_WHY_H

/* Stores the sentence that perfex_why() returns in this thread, cut to 511 bytes, and sets errno to
   `error`. Returns -1. */
int pfx_why(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
