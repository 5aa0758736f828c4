/* SPDX-License-Identifier: 0BSD OR MIT */
/* Small files of the kernel, such as those in /proc and /sys: bounded reads, without streams or
   locale. Callers interpret the bytes. */

#ifndef CPUCYCLES_KERNEL_FILE_H
#define CPUCYCLES_KERNEL_FILE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* In all functions, root is a folder that stands for "/": "" for this machine, or a test's. */

enum { CPUC_KERNEL_FILE_PATH_SIZE = 512 };

/* Joins root and path, in CPUC_KERNEL_FILE_PATH_SIZE bytes. Returns 0; -1 with errno if they are
   too long, and always on Windows, so that all functions fail there. */
int cpuc_kernel_file_path(char *whole, const char *root, const char *path);

/* Opens a file for reading, closed on exec, without waiting for a FIFO or device. Returns the file
   descriptor, or -1 with errno. */
int cpuc_kernel_file_open(const char *root, const char *path);

/* read(2), repeated after EINTR. Returns the number of bytes, 0 at the end, -1 with errno. */
int cpuc_kernel_file_read_some(int file, char *buffer, size_t size);

/* Reads from an open file until its end or until the buffer is full. Returns the number of bytes;
   -1 if a read fails. */
int cpuc_kernel_file_read_rest(int file, char *buffer, size_t size);

/* Reads a file of fewer than size bytes whole. Returns their number; -1 if the file cannot be read
   or has more. */
int cpuc_kernel_file_read_whole(const char *root, const char *path, char *buffer, size_t size);

/* Returns 1 if the file can be opened, else 0. */
int cpuc_kernel_file_can_open(const char *root, const char *path);

/* Reads the beginning of a file as a string. A byte 0 becomes a space, as device trees separate
   words by it. Returns the string's length, or -1. */
int cpuc_kernel_file_read_start(const char *root, const char *path, char *text, size_t size);

/* Finds the first line that begins with key in the first 32 KiB of a file (some files have a line
   per CPU), and copies the rest of the line, cut to size. Returns its length, or -1. */
int cpuc_kernel_file_read_line(const char *root, const char *path, const char *key, char *text,
  size_t size);

/* A line of a text file that is read in pieces. All zeros at the beginning of the file. */
struct cpuc_kernel_line {
  char text[256]; /* a string as soon as the line has ended; longer lines are cut */
  int length;     /* of the string; sizeof text if the line is cut */
  int has_ended;
};

/* Adds the file's next character; 0 becomes '?'. Returns 1 if the character ended the line: the
   next call then begins another line. A last line without a newline does not end. */
int cpuc_kernel_line_add(struct cpuc_kernel_line *line, char next);

/* Returns 1 if text lacks the end of the line. */
static inline int cpuc_kernel_line_is_cut(const struct cpuc_kernel_line *line)
{
  return line->length >= (int)sizeof line->text;
}

#pragma GCC visibility pop

#endif
