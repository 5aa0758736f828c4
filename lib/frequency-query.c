/* SPDX-License-Identifier: 0BSD OR MIT */
/* File access of the frequency sources: bounded reads. */

#include "config.h"

#include "lib/frequency-query.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cpuc_query_open(const char *path)
{
  struct stat status;
  int file = cpuc_kernel_file_open(path);

  if (file < 0)
    return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? CPUC_QUERY_FILE_ABSENT
                                                                        : CPUC_QUERY_FILE_REFUSED;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
    return file;
  close(file);
  return CPUC_QUERY_FILE_NOT_REGULAR;
}

int cpuc_query_read_bytes(const char *path, char *bytes, int size)
{
  int length, file = cpuc_query_open(path);

  if (file < 0)
    return file;
  length = cpuc_kernel_file_read_rest(file, bytes, (size_t)size);
  close(file);
  if (length < 0)
    return CPUC_QUERY_FILE_UNREADABLE;
  return length < size ? length : CPUC_QUERY_FILE_TOO_LONG;
}

int cpuc_query_read_text(const char *path, char *text, int size)
{
  int length = cpuc_query_read_bytes(path, text, size);

  if (length < 0)
    return length;
  text[length] = 0;
  return strlen(text) == (size_t)length ? length : CPUC_QUERY_FILE_NOT_TEXT;
}

const char *cpuc_query_error_text(int error)
{
  static const char *const texts[] = {
    [-CPUC_QUERY_FILE_REFUSED] = "cannot be opened",
    [-CPUC_QUERY_FILE_NOT_REGULAR] = "is not a regular file",
    [-CPUC_QUERY_FILE_UNREADABLE] = "cannot be read",
    [-CPUC_QUERY_FILE_TOO_LONG] = "is too long for a number",
    [-CPUC_QUERY_FILE_NOT_TEXT] = "is not a text file",
  };

  return texts[-error];
}
