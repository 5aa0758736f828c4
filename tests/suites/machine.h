/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/root.c. Simulated machines for suites: a directory that contains the files of a
   machine. */

#ifndef CPUCYCLES_MACHINE_TEST_H
#define CPUCYCLES_MACHINE_TEST_H

#include "sys/file.h"

#include "tests/suites/suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The directory of the machine whose files are read; this machine at first. */
static const char *files_root = "";

const char *cpuc_root(void)
{
  return files_root;
}

static char machine_root[] = "cpucycles-machine-XXXXXX";

/* Makes a machine that has no files yet. From now on, files are read below its root. */
static inline void make_machine(void)
{
  strcpy(machine_root, "cpucycles-machine-XXXXXX");
  ck_assert_ptr_nonnull(mkdtemp(machine_root));
  files_root = machine_root;
}

static inline void remove_machine(void)
{
  char command[64 + sizeof machine_root];

  snprintf(command, sizeof command, "rm -rf '%s'", machine_root);
  ck_assert_int_eq(system(command), 0);
  files_root = "";
}

/* Returns a path below the root of the machine, and makes its directories. */
static inline const char *path_of(const char *path)
{
  static char whole[512];
  char *slash;

  snprintf(whole, sizeof whole, "%s%s", machine_root, path);
  for (slash = strchr(whole, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    ck_assert(suite_mkdir(whole) == 0 || errno == EEXIST);
    *slash = '/';
  }
  return whole;
}

static inline void write_bytes(const char *path, const char *bytes, size_t length)
{
  FILE *file = fopen(path_of(path), "w");

  ck_assert_ptr_nonnull(file);
  ck_assert_uint_eq(fwrite(bytes, 1, length, file), length);
  ck_assert_int_eq(fclose(file), 0);
}

static inline void write_file(const char *path, const char *text)
{
  write_bytes(path, text, strlen(text));
}

#endif
