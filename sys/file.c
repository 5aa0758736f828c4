/* SPDX-License-Identifier: 0BSD OR MIT */
/* Bounded reads of files and directories. */

#include "config.h"

#include "sys/file.h"
#include "sys/parse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif
#ifndef O_NOCTTY
#define O_NOCTTY 0
#endif
#ifndef O_NONBLOCK
#define O_NONBLOCK 0
#endif

/* Does not use snprintf(), because its first call in a process takes a few microseconds, and would
   be part of the first call of the library. */
int cpuc_file_path(char *whole, const char *path)
{
  const char *root = cpuc_root();
  size_t root_length = strlen(root), path_length = strlen(path);

#ifdef _WIN32
  /* Windows has no kernel files, and any user could create a file with this path on the current
     drive. */
  errno = ENOENT;
  return -1;
#endif
  if (root_length + path_length >= CPUC_FILE_PATH_SIZE) {
    errno = ENAMETOOLONG;
    return -1;
  }
  /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the second copy terminates the string */
  memcpy(whole, root, root_length);
  memcpy(whole + root_length, path, path_length + 1);
  return 0;
}

/* Opens a file for reading, with close-on-exec. Neither this call nor a read of the file waits for
   a FIFO or device. Returns the file descriptor, or -1 with errno. */
static int open_file(const char *path)
{
  char whole[CPUC_FILE_PATH_SIZE];

  if (cpuc_file_path(whole, path) != 0)
    return -1;
  return open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Calls read(2), and repeats the call after EINTR. Returns the number of bytes, 0 at the end of the
   file, or -1 with errno. */
static int read_some(int file, char *buffer, size_t size)
{
  ssize_t length;

  do
    length = read(file, buffer, size);
  while (length < 0 && errno == EINTR);
  return (int)length;
}

int cpuc_file_read_rest(int file, char *buffer, size_t size)
{
  int length = 0, more = 1;

  while (more > 0 && (size_t)length < size) {
    more = read_some(file, buffer + length, size - (size_t)length);
    if (more > 0)
      length += more;
  }
  return more < 0 ? -1 : length;
}

int cpuc_file_read_whole(const char *path, char *buffer, size_t size)
{
  int file = open_file(path), length;

  if (file < 0)
    return -1;
  length = cpuc_file_read_rest(file, buffer, size);
  close(file);
  if (length < (int)size)
    return length;
  errno = EFBIG;
  return -1;
}

int cpuc_file_count_links(const char *path)
{
  char whole[CPUC_FILE_PATH_SIZE];
  struct stat status;

  if (cpuc_file_path(whole, path) != 0 || stat(whole, &status) != 0)
    return -1;
  return (int)status.st_nlink;
}

int cpuc_file_exists(const char *path)
{
  char whole[CPUC_FILE_PATH_SIZE];

  return cpuc_file_path(whole, path) == 0 && access(whole, F_OK) == 0;
}

int cpuc_file_read_start(const char *path, char *text, size_t size)
{
  int file = open_file(path), length, i;

  *text = 0;
  if (file < 0)
    return -1;
  length = read_some(file, text, size - 1);
  close(file);
  for (i = 0; i < length; i++)
    if (!text[i])
      text[i] = ' ';
  text[length < 0 ? 0 : length] = 0;
  return length;
}

long long cpuc_file_read_number(const char *path, long long unit)
{
  char text[64];

  return cpuc_file_read_start(path, text, sizeof text) > 0
    ? cpuc_parse_number_line(text, unit)
    : -1;
}

int cpuc_file_read_lines(const char *path, int limit,
  int (*visit)(const struct cpuc_file_line *line, void *argument), void *argument)
{
  int file = open_file(path), is_found = 0, length;
  struct cpuc_file_line line;
  char piece[1152];
  size_t size = sizeof piece;
  const char *rest;

  if (file < 0)
    return 0;
  cpuc_file_line_begin(&line);
  while (limit > 0 && !is_found && (length = read_some(file, piece, size)) > 0) {
    for (rest = piece;
         !is_found && (rest = cpuc_file_line_add(&line, rest, piece + length)) != NULL;)
      is_found = visit(&line, argument);
    limit -= length;
    size = 256;
  }
  close(file);
  return is_found;
}

struct search {
  const char *key;
  char *text;
  size_t size;
};

static int copy_if_found(const struct cpuc_file_line *line, void *argument)
{
  const struct search *search = argument;
  size_t length = strlen(search->key);

  if (strncmp(line->text, search->key, length) != 0)
    return 0;
  snprintf(search->text, search->size, "%s", line->text + length);
  return 1;
}

int cpuc_file_read_line(const char *path, const char *key, char *text, size_t size)
{
  struct search search = { key, text, size };

  return cpuc_file_read_lines(path, 32 * 1024, copy_if_found, &search) ? (int)strlen(text) : -1;
}

int cpuc_file_list(const char *path, void (*visit)(const char *name, void *argument),
  void *argument)
{
  enum { LIMIT = 1024 };
  char whole[CPUC_FILE_PATH_SIZE];
  DIR *directory = cpuc_file_path(whole, path) == 0 ? opendir(whole) : NULL;
  const struct dirent *entry;
  int i;

  if (!directory)
    return -1;
  for (i = 0; i < LIMIT && (entry = readdir(directory)) != NULL; i++)
    visit(entry->d_name, argument);
  closedir(directory);
  return 0;
}

void cpuc_file_line_begin(struct cpuc_file_line *line)
{
  line->length = line->has_ended = line->is_cut = 0;
  line->text[0] = 0;
}

const char *cpuc_file_line_add(struct cpuc_file_line *line, const char *text, const char *end)
{
  const char *newline = memchr(text, '\n', (size_t)(end - text));
  size_t length = (size_t)((newline ? newline : end) - text), room;

  if (line->has_ended)
    cpuc_file_line_begin(line);
  room = sizeof line->text - 1 - line->length;
  if (length > room || memchr(text, 0, length))
    line->is_cut = 1;
  if (length > room)
    length = room;
  memcpy(line->text + line->length, text, length);
  line->length += length;
  line->text[line->length] = 0;
  line->has_ended = newline != NULL;
  return newline ? newline + 1 : NULL;
}
