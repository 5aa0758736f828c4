/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the frequency in the CPU nodes of a device tree. */

#include "config.h"

#include "lib/frequency-query.h"

#include <dirent.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NODES "/proc/device-tree/cpus"

enum { MAX_NODES = 256 }; /* enough for all core types */

/* Reads a property of a node. Returns its length, or a cpuc_query_error. */
static int read_property(const char *directory, const char *node, const char *property,
  char *bytes, int size)
{
  char path[CPUC_KERNEL_FILE_PATH_SIZE];
  int length = snprintf(path, sizeof path, "%s/%s/%s", directory, node, property);

  if (length < 0 || length >= CPUC_KERNEL_FILE_PATH_SIZE)
    return CPUC_QUERY_FILE_ABSENT;
  return cpuc_query_read_bytes(path, bytes, size);
}

/* Returns the frequency in a CPU node such as "cpu@0" or "PowerPC,POWER9@20"; 0 for other nodes,
   such as those of caches. */
static long long from_node(const char *directory, const char *node)
{
  char bytes[16];
  int length;

  if (!strchr(node, '@'))
    return 0;
  length = read_property(directory, node, "device_type", bytes, sizeof bytes);
  if (length != CPUC_QUERY_FILE_ABSENT && !(length == 4 && memcmp(bytes, "cpu", 4) == 0))
    return 0;
  length = read_property(directory, node, "clock-frequency", bytes, sizeof bytes);
  return cpuc_rate_from_dt_cells(bytes, length);
}

/* Lists the directory, because the names of the nodes differ between machines. That allocates
   memory, but only on machines where no earlier source has a frequency. */
long long cpuc_frequency_from_device_tree(struct cpuc_query *query)
{
  DIR *directory = cpuc_query_open_directory(NODES);
  struct dirent *entry;
  long long highest = 0;
  int i;

  (void)query;
  if (!directory)
    return 0;
  for (i = 0; i < MAX_NODES && (entry = readdir(directory)) != NULL; i++) {
    long long hz = from_node(NODES, entry->d_name);

    if (hz > highest)
      highest = hz;
  }
  closedir(directory);
  return highest;
}
