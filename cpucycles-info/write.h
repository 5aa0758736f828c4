/* SPDX-License-Identifier: 0BSD OR MIT */
/* Writes facts as text or as JSON. A call for a fact contains the key, the value, and the words
   around the value, so that a fact is named once. If the key is NULL, the fact is only in the text;
   if `before` is NULL, only in the JSON document. */

#ifndef CPUCYCLES_WRITE_H
#define CPUCYCLES_WRITE_H

enum write_form { WRITE_TEXT, WRITE_JSON };

/* Begins a document. */
void write_begin(enum write_form wanted);

/* Ends the last line of the text, or the JSON document. */
void write_end(void);

/* Prints words as a line, and what exceeds the columns in more lines, which begin with four
   blanks. */
void write_folded(const char *words, int width);

/* Folds the lines that follow at this width, which is 80 at first, if standard output is a
   terminal. Lines of a file are whole, so that they can be searched. */
void write_fold(int width);

/* Text only: adds words to the line. Words that begin with a newline begin a line of the report,
   after "cpucycles ". */
__attribute__((format(printf, 1, 2)))
void write_words(const char *format, ...);

/* JSON only: opens an object with '{' or an array with '['. The key of an element of an array
   is "". */
void write_open(const char *key, char bracket);
void write_close(void);
void write_null(const char *key);

/* The value of each fact. If a string is NULL or empty, or is_known is 0, the JSON document
   contains null and the text contains nothing. */
void write_string(const char *key, const char *value, const char *before, const char *after);
void write_integer(const char *key, int is_known, long long value, const char *before,
  const char *after);
/* The text has this number of decimals; the JSON document has 6, or none if there are none. */
void write_number(const char *key, int is_known, double value, int decimals, const char *before,
  const char *after);
/* -1: not known. The words are for the values -1, 0 and 1. */
void write_truth(const char *key, int value, const char *unknown, const char *no, const char *yes);

#endif
