/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the frequency in the CPU nodes of a device tree. */

#include "config.h"

#include "lib/frequency-query.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NODES "/proc/device-tree/cpus"

/* Reads a property of a node. Returns its length, or a cpuc_query_error. */
static int read_property(const char *node, const char *property, char *bytes, int size)
{
  char path[CPUC_KERNEL_FILE_PATH_SIZE];
  int length = snprintf(path, sizeof path, NODES "/%s/%s", node, property);

  if (length < 0 || length >= CPUC_KERNEL_FILE_PATH_SIZE)
    return CPUC_QUERY_FILE_ABSENT;
  return cpuc_query_read_bytes(path, bytes, size);
}

/* Returns the frequency in a CPU node such as "cpu@0" or "PowerPC,POWER9@20"; 0 for other nodes,
   such as those of caches. */
static long long from_node(const char *node)
{
  char bytes[16];
  int length;

  if (!strchr(node, '@'))
    return 0;
  length = read_property(node, "device_type", bytes, sizeof bytes);
  if (length != CPUC_QUERY_FILE_ABSENT && !(length == 4 && memcmp(bytes, "cpu", 4) == 0))
    return 0;
  length = read_property(node, "clock-frequency", bytes, sizeof bytes);
  return cpuc_rate_from_dt_cells(bytes, length);
}

static void compare_node(const char *node, void *argument)
{
  long long *highest = argument, hz = from_node(node);

  if (hz > *highest)
    *highest = hz;
}

/* Lists the directory, because the names of the nodes differ between machines. */
long long cpuc_frequency_from_device_tree(struct cpuc_query *query)
{
  long long highest = 0;

  (void)query;
  cpuc_kernel_file_list(NODES, compare_node, &highest);
  return highest;
}
