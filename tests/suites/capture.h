/* SPDX-License-Identifier: 0BSD OR MIT */
/* Captures the output on stderr or stdout. */

#ifndef CPUCYCLES_CAPTURE_H
#define CPUCYCLES_CAPTURE_H

#include "tests/suites/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *capture_stream, *capture_file;
static int capture_saved; /* copy of the descriptor of the stream, while captured */
static char captured[16384];

static inline void capture_begin(FILE *stream)
{
  capture_stream = stream;
  fflush(stream);
  capture_saved = dup(fileno(stream));
  capture_file = tmpfile();
  ck_assert_ptr_nonnull(capture_file);
  dup2(fileno(capture_file), fileno(stream));
}

/* Ends the capture. Returns the output, which stays in captured[] until the next capture ends. */
static inline const char *capture_end(void)
{
  size_t length;

  fflush(capture_stream);
  dup2(capture_saved, fileno(capture_stream));
  close(capture_saved);
  rewind(capture_file);
  length = fread(captured, 1, sizeof captured - 1, capture_file);
  captured[length] = 0;
  fclose(capture_file);
  return captured;
}

#endif
