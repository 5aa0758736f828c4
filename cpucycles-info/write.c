/* SPDX-License-Identifier: 0BSD OR MIT */
/* Writes facts as text or as JSON (RFC 8259) to standard output. */

#include "config.h"

#include "cpucycles-info/write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 4 };

static enum write_form form;
static int depth;        /* number of open JSON objects and arrays */
static int is_first;     /* 1 while the innermost open object or array has no members */
static char text[2048];  /* the line of text that is not printed yet */

void write_begin(enum write_form wanted)
{
  form = wanted;
  *text = 0;
  depth = is_first = 0;
  if (form == WRITE_JSON)
    write_object("");
}

int write_is_text(void)
{
  return form == WRITE_TEXT;
}

/* Returns the number of bytes of `words` that a line of this width takes, up to a blank. A word
   that is wider is not broken. */
static size_t fitting(const char *words, int width)
{
  size_t i, end = 0;

  for (i = 0; words[i] && (width >= 0 || end == 0); i++) {
    if (words[i] == ' ')
      end = i;
    width -= (words[i] & 0xc0) != 0x80; /* bytes after the first of a UTF-8 sequence have no width */
  }
  return words[i] || width < 0 ? (end > 0 ? end : i) : i;
}

void write_folded(const char *words, int columns)
{
  size_t length;
  int indent;

  for (indent = 0; *words; indent = INDENT) {
    length = fitting(words, columns - indent);
    printf("%*s%.*s\n", indent, "", (int)length, words);
    words += length;
    words += *words == ' ';
  }
}

static void end_line(void)
{
  write_folded(text, 80);
  *text = 0;
}

__attribute__((format(printf, 1, 0)))
static void add(const char *format, va_list arguments)
{
  size_t length = strlen(text);

  vsnprintf(text + length, sizeof text - length, format, arguments);
}

void write_words(const char *format, ...)
{
  va_list arguments;

  va_start(arguments, format);
  if (form == WRITE_TEXT)
    add(format, arguments);
  va_end(arguments);
}

void write_line(const char *format, ...)
{
  va_list arguments;

  if (form != WRITE_TEXT)
    return;
  end_line();
  write_words("cpucycles ");
  va_start(arguments, format);
  add(format, arguments);
  va_end(arguments);
}

static void begin_member(void)
{
  printf(is_first ? "\n%*s" : ",\n%*s", depth * 2, "");
  is_first = 0;
}

/* Returns the length of the UTF-8 sequence at `at`, whose first byte is not ASCII, or 0 if the
   sequence is not valid. */
static int sequence_length(const unsigned char *at)
{
  static const unsigned char least[] = { 0, 0, 0xc2, 0xe0, 0xf0 };
  int length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2, i;

  if (at[0] < least[length] || at[0] > 0xf4)
    return 0;
  for (i = 1; i < length; i++)
    if (at[i] < 0x80 || at[i] > 0xbf)
      return 0;
  if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f)
    || (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
    return 0;
  return length;
}

/* Prints a JSON string. Escapes control characters, and replaces bytes that are not UTF-8, because
   files of the system can contain any bytes. */
static void print_string(const char *string)
{
  const unsigned char *at = (const unsigned char *)string;
  int length;

  putchar('"');
  for (; *at; at += length > 0 ? length : 1) {
    length = *at < 0x80 ? 1 : sequence_length(at);
    if (*at == '"' || *at == '\\')
      printf("\\%c", *at);
    else if (*at < ' ' || *at == 127)
      printf("\\u%04x", *at);
    else if (length > 0)
      fwrite(at, 1, (size_t)length, stdout);
    else
      printf("\\ufffd");
  }
  putchar('"');
}

/* Begins a member of the open object, or an element of the open array. */
static void begin(const char *key)
{
  if (depth > 0)
    begin_member();
  if (!*key)
    return;
  print_string(key);
  printf(": ");
}

static void open_with(const char *key, char bracket)
{
  if (form != WRITE_JSON)
    return;
  begin(key);
  putchar(bracket);
  depth++;
  is_first = 1;
}

static void close_with(char bracket)
{
  if (form != WRITE_JSON)
    return;
  depth--;
  if (!is_first)
    printf("\n%*s", depth * 2, "");
  putchar(bracket);
  is_first = 0;
}

void write_object(const char *key)
{
  open_with(key, '{');
}

void write_object_end(void)
{
  close_with('}');
}

void write_array(const char *key)
{
  open_with(key, '[');
}

void write_array_end(void)
{
  close_with(']');
}

void write_end(void)
{
  end_line();
  write_object_end();
  if (form == WRITE_JSON)
    putchar('\n');
}

void write_null(const char *key)
{
  if (form != WRITE_JSON)
    return;
  begin(key);
  printf("null");
}

/* Adds the words of a known fact to the text. Returns 1 if the caller prints the value in the JSON
   document, whose key is then printed. */
static int write_fact(const char *key, int is_known, const char *before, const char *value,
  const char *after)
{
  if (form == WRITE_TEXT) {
    if (before && is_known)
      write_words("%s%s%s", before, value, after);
    return 0;
  }
  if (!key || !is_known) {
    if (key)
      write_null(key);
    return 0;
  }
  begin(key);
  return 1;
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
