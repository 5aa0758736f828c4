/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends share that the kernel tells something by a file: bounded reads, no streams, no
   locale. What the bytes mean is each backend's matter. */

#ifndef CPUCYCLES_KERNEL_FILE_H
#define CPUCYCLES_KERNEL_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef O_CLOEXEC
#define O_CLOEXEC 0
#endif

/* Returns a descriptor, or -1. */
static inline int open_kernel_file(const char *path)
{
  return open(path, O_RDONLY | O_CLOEXEC);
}

/* Returns how many bytes were read, 0 at the end, -1 if that fails. */
static inline int read_some(int file, char *buffer, size_t size)
{
  ssize_t length;

  do
    length = read(file, buffer, size);
  while (length < 0 && errno == EINTR);
  return (int)length;
}

/* One or two cells of a device tree, 32 bits each and big-endian; 0 if they are not that. */
static inline unsigned long long value_of_cells(const char *cells, int length)
{
  unsigned long long value = 0;
  int i;

  if (length != 4 && length != 8)
    return 0;
  for (i = 0; i < length; i++)
    value = value << 8 | (unsigned char)cells[i];
  return value;
}

/* Reads a file of fewer than size bytes whole. Returns how many they are; -1 if it cannot be read
   or has more. */
static inline int read_kernel_file(const char *path, char *buffer, size_t size)
{
  int file = open_kernel_file(path);
  int length = 0, more;

  if (file < 0)
    return -1;
  do {
    more = read_some(file, buffer + length, size - (size_t)length);
    if (more > 0)
      length += more;
  } while (more > 0 && (size_t)length < size);
  close(file);
  return more == 0 ? length : -1;
}

/* Opens a file below a root folder: "", or a test's. */
static inline int open_kernel_file_below(const char *root, const char *path)
{
  char whole[256];
  int length = snprintf(whole, sizeof whole, "%s%s", root, path);

  return length > 0 && (size_t)length < sizeof whole ? open_kernel_file(whole) : -1;
}

static inline int is_kernel_file(const char *root, const char *path)
{
  int file = open_kernel_file_below(root, path);

  if (file >= 0)
    close(file);
  return file >= 0;
}

/* The beginning of such a file, as a string; bytes that are 0 become spaces, as device trees
   separate words by them. Returns its length, or -1. */
static inline int read_kernel_text(const char *root, const char *path, char *text, size_t size)
{
  int file = open_kernel_file_below(root, path), length, i;

  if (file < 0)
    return -1;
  length = read_some(file, text, size - 1);
  close(file);
  for (i = 0; i < length; i++)
    if (!text[i])
      text[i] = ' ';
  if (length >= 0)
    text[length] = 0;
  return length;
}

/* Of the first line that begins with key, what follows that, cut to size. Files that go on for
   ever, as those of a line per CPU, are read in part. Returns its length, or -1. */
static inline int read_kernel_line(const char *root, const char *path, const char *key, char *text,
  size_t size)
{
  enum { LIMIT = 64 };
  size_t keys = strlen(key), matched = 0, used = 0;
  int file = open_kernel_file_below(root, path), at_start = 1, found = 0, length, chunks = 0, i;
  char chunk[512];

  if (file < 0)
    return -1;
  while (found < 2 && chunks++ < LIMIT && (length = read_some(file, chunk, sizeof chunk)) > 0)
    for (i = 0; i < length && found < 2; i++) {
      if (found == 1 && chunk[i] == '\n')
        found = 2;
      else if (found == 1 && used < size - 1)
        text[used++] = chunk[i];
      else if (found == 0) {
        at_start = chunk[i] == '\n' || (at_start && chunk[i] == key[matched]);
        matched = chunk[i] == '\n' || !at_start ? 0 : matched + 1;
        found = matched == keys;
      }
    }
  close(file);
  if (!found)
    return -1;
  text[used] = 0;
  return (int)used;
}

#endif
