/* SPDX-License-Identifier: 0BSD OR MIT */
/* Writes facts as text or as JSON (RFC 8259) to standard output. */

#include "config.h"

#include "cpucycles-info/write.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { INDENT = 4 };

static enum write_form form;
static int depth;       /* number of open JSON objects and arrays */
static char closing[8]; /* the brackets that close them */
static int is_first;    /* 1 while the innermost open object or array has no members */
static char text[2048]; /* the line of text that is not printed yet */
static int columns, is_terminal;

void write_begin(enum write_form wanted)
{
  form = wanted;
  is_terminal = isatty(fileno(stdout));
  write_fold(80);
  depth = is_first = 0;
  write_open("", '{');
}

/* Returns the number of bytes of `words` that a line of this width takes, up to a blank. A word
   that is wider is not broken. */
static size_t fitting(const char *words, int width)
{
  size_t i, end = 0;

  for (i = 0; words[i] && (width >= 0 || end == 0); i++) {
    if (words[i] == ' ')
      end = i;
    width -= (words[i] & 0xc0) != 0x80; /* UTF-8: only the first byte of a sequence counts */
  }
  return (words[i] || width < 0) && end > 0 ? end : i;
}

void write_folded(const char *words, int width)
{
  size_t length;
  int indent;

  for (indent = 0; *words; indent = INDENT) {
    length = fitting(words, width - indent);
    printf("%*s%.*s\n", indent, "", (int)length, words);
    words += length;
    words += *words == ' ';
  }
}

/* Returns the bytes of the character of UTF-8 at `at`, or 0 for a byte that begins none or that
   controls a terminal. Source: RFC 3629, section 4. */
static int length_of_character(const unsigned char *at)
{
  int i, length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;

  if (length == 1)
    return *at >= ' ' && *at != 127;
  if (*at < 0xc2 || *at > 0xf4 || (*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f)
    || (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f))
    return 0;
  for (i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  return length;
}

/* Prints the line. Replaces bytes that are no text, because files of the system can contain any
   bytes. */
static void end_line(void)
{
  unsigned char *at;
  int length;

  for (at = (unsigned char *)text; *at; at += length ? length : 1)
    if ((length = length_of_character(at)) == 0)
      *at = '?';
  write_folded(text, columns);
  *text = 0;
}

void write_fold(int width)
{
  end_line();
  columns = is_terminal ? width : INT_MAX;
}

/* Text only: begins a line if the words begin with a newline. Returns the words after it. */
static const char *begin_line(const char *words)
{
  if (form != WRITE_TEXT || *words != '\n')
    return words;
  end_line();
  strcpy(text, "cpucycles ");
  return words + 1;
}

void write_words(const char *format, ...)
{
  const char *rest = begin_line(format);
  size_t length = strlen(text);
  va_list arguments;

  va_start(arguments, format);
  if (form == WRITE_TEXT)
    vsnprintf(text + length, sizeof text - length, rest, arguments);
  va_end(arguments);
}

/* Prints a JSON string. Escapes control characters, and replaces bytes that are not ASCII, because
   files of the system can contain any bytes. */
static void print_string(const char *string)
{
  const unsigned char *at = (const unsigned char *)string;

  putchar('"');
  for (; *at; at++)
    if (*at == '"' || *at == '\\')
      printf("\\%c", *at);
    else if (*at < ' ' || *at == 127)
      printf("\\u%04x", *at);
    else if (*at < 128)
      putchar(*at);
    else
      printf("\\ufffd");
  putchar('"');
}

/* Begins a member of the open object, or an element of the open array. */
static void begin(const char *key)
{
  if (depth > 0)
    printf(is_first ? "\n%*s" : ",\n%*s", depth * 2, "");
  is_first = 0;
  if (!*key)
    return;
  print_string(key);
  printf(": ");
}

void write_open(const char *key, char bracket)
{
  if (form == WRITE_TEXT)
    return;
  begin(key);
  putchar(bracket);
  closing[depth++] = bracket == '{' ? '}' : ']';
  is_first = 1;
}

void write_close(void)
{
  if (form == WRITE_TEXT)
    return;
  depth--;
  if (!is_first)
    printf("\n%*s", depth * 2, "");
  printf("%c%s", closing[depth], depth == 0 ? "\n" : "");
  is_first = 0;
}

void write_end(void)
{
  end_line();
  write_close();
}

void write_null(const char *key)
{
  if (form == WRITE_TEXT)
    return;
  begin(key);
  printf("null");
}

/* Adds the words of a known fact to the text. Returns 1 if the caller prints the value in the JSON
   document, whose key is then printed. */
static int write_fact(const char *key, int is_known, const char *before, const char *value,
  const char *after)
{
  if (before && is_known)
    write_words("%s%s%s", begin_line(before), value, after);
  if (form == WRITE_TEXT || !key)
    return 0;
  if (is_known)
    begin(key);
  else
    write_null(key);
  return is_known;
}

void write_string(const char *key, const char *value, const char *before, const char *after)
{
  if (write_fact(key, value && *value, before, value, after))
    print_string(value);
}

void write_integer(const char *key, int is_known, long long value, const char *before,
  const char *after)
{
  char digits[24];

  snprintf(digits, sizeof digits, "%lld", value);
  if (write_fact(key, is_known, before, digits, after))
    printf("%s", digits);
}

/* printf() writes a decimal point, because the tool does not set LC_NUMERIC. */
void write_number(const char *key, int is_known, double value, int decimals, const char *before,
  const char *after)
{
  char digits[400]; /* for the largest double */

  snprintf(digits, sizeof digits, "%.*f", decimals, value);
  if (write_fact(key, is_known, before, digits, after))
    printf("%.*f", decimals > 0 ? 6 : 0, value);
}

void write_truth(const char *key, int value, const char *unknown, const char *no, const char *yes)
{
  const char *words = value < 0 ? unknown : value ? yes : no;

  if (write_fact(key, value >= 0 || form == WRITE_TEXT, words, "", ""))
    printf("%s", value ? "true" : "false");
}
