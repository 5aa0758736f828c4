/* SPDX-License-Identifier: 0BSD OR MIT */
/* What suites about libperfex share: what was said on a stream meanwhile. */

#ifndef CPUCYCLES_PERFEX_SAID_H
#define CPUCYCLES_PERFEX_SAID_H

#include "tests/suites/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static FILE *said_stream, *said_file;
static int said_before; /* where the stream led */
static char said_text[16384];

static inline void listen_to(FILE *stream)
{
  said_stream = stream;
  fflush(stream);
  said_before = dup(fileno(stream));
  said_file = tmpfile();
  ck_assert_ptr_nonnull(said_file);
  dup2(fileno(said_file), fileno(stream));
}

/* All that was said since. */
static inline const char *what_was_said(void)
{
  size_t length;

  fflush(said_stream);
  dup2(said_before, fileno(said_stream));
  close(said_before);
  rewind(said_file);
  length = fread(said_text, 1, sizeof said_text - 1, said_file);
  said_text[length] = 0;
  fclose(said_file);
  return said_text;
}

#endif
