/* SPDX-License-Identifier: 0BSD OR MIT */
/* Parses texts from the system. All functions have no state, are safe for any text, and do not
   depend on the locale. */

#include "config.h"

#include "sys/parse.h"

static int is_digit(char c)
{
  return c >= '0' && c <= '9';
}

const char *cpuc_parse_decimal(const char *text, long long unit, long long *number)
{
  if (!is_digit(*text))
    return NULL;
  for (*number = 0; is_digit(*text); text++) {
    *number = *number * 10 + (*text - '0') * unit;
    if (*number > CPUC_PARSE_DECIMAL_LIMIT)
      *number = CPUC_PARSE_DECIMAL_LIMIT + 1;
  }
  if (*text != '.')
    return text;
  if (!is_digit(text[1]))
    return NULL;
  for (text++; is_digit(*text); text++) {
    unit /= 10;
    *number += (*text - '0') * unit;
  }
  return text;
}

long long cpuc_parse_number(const char *text, long long unit)
{
  long long number;

  text = cpuc_parse_decimal(cpuc_parse_skip_blanks(text), unit, &number);
  return text && cpuc_parse_is_rest_blank(text) ? number : -1;
}

long long cpuc_parse_number_line(const char *text, long long unit)
{
  return strchr(text, '\n') ? cpuc_parse_number(text, unit) : -1;
}

const char *cpuc_parse_integer(const char *text, int *number)
{
  const char *rest = text;

  for (*number = 0; is_digit(*rest) && *number <= 1000000; rest++)
    *number = *number * 10 + (*rest - '0');
  return rest > text && *number <= 1000000 ? rest : NULL;
}

const char *cpuc_parse_hexadecimal(const char *text, unsigned long long *number)
{
  static const char digits[] = "0123456789abcdef0123456789ABCDEF";
  const char *rest = text, *digit;

  for (*number = 0; *rest && (digit = strchr(digits, *rest)) != NULL; rest++)
    *number = *number << 4 | (unsigned long long)((digit - digits) % 16);
  return rest > text && rest - text <= 16 ? rest : NULL;
}

const char *cpuc_parse_frequency(const char *text, long long *hz)
{
  static const struct {
    char name[4];
    int hz;
  } units[] = { { "GHz", 1000000000 }, { "MHz", 1000000 }, { "kHz", 1000 }, { "Hz", 1 } };
  int i;

  for (i = 0; i < 4; i++) {
    size_t length = strlen(units[i].name);
    const char *unit = cpuc_parse_decimal(text, units[i].hz, hz);

    if (unit)
      unit = cpuc_parse_skip_blanks(unit + (*unit == '+'));
    if (unit && strncmp(unit, units[i].name, length) == 0)
      return unit + length;
  }
  return NULL;
}

const char *cpuc_parse_nominal_frequency(const char *text, long long *hz)
{
  static const char before[] = " @(";

  for (; text; text = strpbrk(text, before)) {
    const char *rest;

    text += strspn(text, before);
    rest = cpuc_parse_frequency(text, hz);
    if (rest && (cpuc_parse_is_rest_blank(rest) || *rest == ' ' || *rest == '\t'))
      return "";
  }
  return NULL;
}

const char *cpuc_parse_next_cpu_range(const char *text, int *first, int *last)
{
  text = cpuc_parse_integer(text + strspn(text, ", "), first);
  *last = *first;
  if (text && *text == '-')
    text = cpuc_parse_integer(text + 1, last);
  return text;
}
