/* SPDX-License-Identifier: 0BSD OR MIT */
/* Bounded reads of files and directories, such as those in /proc and /sys, small files in /etc, and
   files of costs. The functions use no FILE streams, and do not depend on the locale. */

#ifndef CPUCYCLES_FILE_H
#define CPUCYCLES_FILE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum { CPUC_FILE_PATH_SIZE = 512 };

/* Returns the root directory for the functions below: "". A test that simulates a machine defines
   this function itself, so that the linker leaves root.c out. */
const char *cpuc_root(void);

/* Joins cpuc_root() and path in `whole`, which has CPUC_FILE_PATH_SIZE bytes. Returns 0, or
   -1 with errno if the joined path is too long. Always fails on Windows, so that all functions that
   take a path fail there. */
int cpuc_file_path(char *whole, const char *path);

/* Reads from an open file to its end, or until the buffer is full. Returns the number of bytes, or
   -1 with errno. */
int cpuc_file_read_rest(int file, char *buffer, size_t size);

/* Reads a whole file of fewer than size bytes. Returns the number of bytes, or -1 with errno, which
   is EFBIG if the file has size bytes or more. */
int cpuc_file_read_whole(const char *path, char *buffer, size_t size);

/* Returns 1 if the file or directory exists, else 0 with errno. */
int cpuc_file_exists(const char *path);

/* Returns the number of links of a file or directory, or -1 with errno. A directory of sysfs has
   two links, and one more for each directory in it. Directories of some other file systems have
   one. */
int cpuc_file_count_links(const char *path);

/* Reads the beginning of a file as a string. Replaces bytes 0, which separate words in device
   trees, with spaces. Returns the length of the string, or -1 and an empty string. */
int cpuc_file_read_start(const char *path, char *text, size_t size);

/* Returns the decimal number that is the only line of a file, times unit; -1 if the file cannot be
   read or contains other text. */
long long cpuc_file_read_number(const char *path, long long unit);

/* Calls visit(name, argument) for each of the first 1024 entries of a directory. This limit
   suffices, because no machine has more PMUs, and because callers do not need all CPUs or all
   policies of cpufreq. Allocates memory, and is a cancellation point. Returns 0, or -1 if the
   directory cannot be opened. */
int cpuc_file_list(const char *path, void (*visit)(const char *name, void *argument),
  void *argument);

/* A line of a text file that is read in pieces. */
struct cpuc_file_line {
  size_t length;
  int has_ended; /* 1 if the next character begins another line */
  int is_cut;    /* 1 if the line is longer than text, or contains a byte 0 */
  char text[1024]; /* a string */
};

void cpuc_file_line_begin(struct cpuc_file_line *line);

/* Adds the characters before end, or up to the first newline. If there is a newline, returns the
   text after it, and the next call begins another line. Returns NULL if the line has not ended
   yet. */
const char *cpuc_file_line_add(struct cpuc_file_line *line, const char *text, const char *end);

/* Calls visit(line, argument) for each line of a file, and ends when it returns nonzero, or after
   `limit` bytes. Ignores a line that lacks its newline. Reads 1152 bytes, which is less than the
   lines of a CPU of x86 in /proc/cpuinfo, then small pieces, because the kernel takes ten
   microseconds in a virtual machine to prepare the lines of the next CPU, and one CPU can suffice.
   Returns 1 if visit() returned nonzero, else 0. */
int cpuc_file_read_lines(const char *path, int limit,
  int (*visit)(const struct cpuc_file_line *line, void *argument), void *argument);

/* Finds the first line that begins with key, and copies the rest of the line, cut to size. Reads at
   most 32 KiB, because some files have lines for each CPU. Returns the length of the copy, or
   -1. */
int cpuc_file_read_line(const char *path, const char *key, char *text, size_t size);

#pragma GCC visibility pop

#endif
