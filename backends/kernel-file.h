/* SPDX-License-Identifier: 0BSD OR MIT */
/* What the backends share that the kernel tells something by a file: bounded reads, no stdio, no
   locale. What the bytes mean is each backend's matter. */

#ifndef CPUCYCLES_KERNEL_FILE_H
#define CPUCYCLES_KERNEL_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
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

#endif
