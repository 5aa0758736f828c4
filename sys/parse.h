/* SPDX-License-Identifier: 0BSD OR MIT */
/* Parses texts from the system: numbers, lists of CPUs, and names of CPUs. All functions are safe
   for any text, and independent of the locale. */

#ifndef CPUCYCLES_PARSE_H
#define CPUCYCLES_PARSE_H

#include <string.h>

#pragma GCC visibility push(hidden)

/* If the product of a number and its unit, rounded down, exceeds this limit, the parsers of decimal
   numbers return some value above this limit, not the product. */
#define CPUC_PARSE_DECIMAL_LIMIT 1000000000000LL

/* Parses a decimal number, with a point in every locale. Stores the number times unit, which is a
   power of ten up to 10^9. Returns the rest of the text, or NULL if the text does not begin with a
   number, or if no digit follows the point. */
const char *cpuc_parse_decimal(const char *text, long long unit, long long *number);

/* Returns the decimal number that is the whole text except blanks before it and white space after
   it, times unit; -1 for any other text. */
long long cpuc_parse_number(const char *text, long long unit);

/* Returns the decimal number in a line of its own, times unit; -1 for any other text. A number that
   no newline follows may be incomplete. */
long long cpuc_parse_number_line(const char *text, long long unit);

/* Parses an integer up to 1000000. Returns the rest of the text, or NULL if the text does not begin
   with such an integer. */
const char *cpuc_parse_integer(const char *text, int *number);

/* Parses a hexadecimal number of up to 16 digits, without a prefix. Returns the rest of the text,
   or NULL if the text does not begin with such a number. */
const char *cpuc_parse_hexadecimal(const char *text, unsigned long long *number);

/* Parses a number and its unit, such as "2.80GHz", "2.2+GHz" or "198 MHz". Stores the frequency in
   Hz. Returns the rest of the text, or NULL. */
const char *cpuc_parse_frequency(const char *text, long long *hz);

/* Finds the nominal frequency in the name of a CPU, where it follows "@" or is a word of its
   own: "Model @ 2.80GHz", "Model@2.7GHz", in older names "Model CPU 2.80GHz" and "Model (1.6GHz
   Capable)". Returns "" if it is found, because the rest of the name is ignored, or NULL if the
   name contains no frequency. */
const char *cpuc_parse_nominal_frequency(const char *text, long long *hz);

/* Finds the next range in a list of CPUs from the kernel, such as "0-3,6\n" or "0 1 2 3\n". Returns
   the rest of the list, or NULL if there is no further range. */
const char *cpuc_parse_next_cpu_range(const char *text, int *first, int *last);

static inline const char *cpuc_parse_skip_blanks(const char *text)
{
  return text + strspn(text, " \t");
}

/* Returns 1 if only white space is left. */
static inline int cpuc_parse_is_rest_blank(const char *text)
{
  return text[strspn(text, " \t\r\n")] == 0;
}

#pragma GCC visibility pop

#endif
