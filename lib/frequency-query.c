/* SPDX-License-Identifier: 0BSD OR MIT */
/* File access of the frequency sources: bounded reads. The query holds the open files, so that
   frequency.c can close them if a fault ends a source. */

#include "config.h"

#include "lib/frequency-query.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cpuc_query_open(struct cpuc_query *query, const char *path)
{
  struct stat status;

  query->file = cpuc_kernel_file_open(path);
  if (query->file < 0)
    return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? CPUC_QUERY_FILE_ABSENT
                                                                        : CPUC_QUERY_FILE_REFUSED;
  if (fstat(query->file, &status) == 0 && S_ISREG(status.st_mode))
    return 0;
  close(query->file);
  query->file = -1;
  return CPUC_QUERY_FILE_NOT_REGULAR;
}

void cpuc_query_close(struct cpuc_query *query)
{
  if (query->file >= 0)
    close(query->file);
  query->file = -1;
}

int cpuc_query_read_bytes(struct cpuc_query *query, const char *path, char *bytes, int size)
{
  int length, error = cpuc_query_open(query, path);

  if (error != 0)
    return error;
  length = cpuc_kernel_file_read_rest(query->file, bytes, (size_t)size);
  cpuc_query_close(query);
  if (length < 0)
    return CPUC_QUERY_FILE_UNREADABLE;
  return length < size ? length : CPUC_QUERY_FILE_TOO_LONG;
}

int cpuc_query_read_text(struct cpuc_query *query, const char *path, char *text, int size)
{
  int length = cpuc_query_read_bytes(query, path, text, size);

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

int cpuc_query_open_directory(struct cpuc_query *query, const char *path)
{
  char whole[CPUC_KERNEL_FILE_PATH_SIZE];

  if (cpuc_kernel_file_path(whole, path) != 0)
    return -1;
  query->directory = opendir(whole);
  return query->directory ? 0 : -1;
}

void cpuc_query_close_directory(struct cpuc_query *query)
{
  DIR *directory = query->directory;

  query->directory = NULL;
  if (directory)
    closedir(directory);
}
