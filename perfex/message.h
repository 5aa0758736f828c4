/* SPDX-License-Identifier: 0BSD OR MIT */
/* Messages on standard error. */

#ifndef PERFEX_MESSAGE_H
#define PERFEX_MESSAGE_H

/* Prints "libperfex: " and the message as a line on standard error, cut to 511 bytes. */
void pfx_message(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
