/* SPDX-License-Identifier: 0BSD OR MIT */
/* Reads the frequency in the CPU nodes of a device tree. */

#include "config.h"

#include "lib/frequency.h"

#include <stdio.h>
#include <string.h>

#define NODES "/proc/device-tree/cpus"

/* Returns the frequency in a CPU node such as "cpu@0" or "PowerPC,POWER9@20"; 0 for nodes whose
   device_type is not "cpu", such as nodes of caches. */
static long long from_node(const char *node)
{
  char path[CPUC_FILE_PATH_SIZE], type[16], cells[16];
  int length;

  if (!strchr(node, '@'))
    return 0;
  snprintf(path, sizeof path, NODES "/%s/device_type", node);
  /* the byte 0 at the end of the text has become a space */
  if (cpuc_file_read_start(path, type, sizeof type) >= 0 && strcmp(type, "cpu ") != 0)
    return 0;
  snprintf(path, sizeof path, NODES "/%s/clock-frequency", node);
  length = cpuc_file_read_whole(path, cells, sizeof cells);
  return cpuc_rate_from_dt_cells(cells, length);
}

static void keep_highest(const char *node, void *argument)
{
  long long *highest = argument, hz = from_node(node);

  if (hz > *highest)
    *highest = hz;
}

/* Lists the directory, because the names of the nodes differ between machines. */
long long cpuc_frequency_from_device_tree(struct cpuc_frequency_query *query)
{
  long long highest = 0;

  (void)query;
  cpuc_file_list(NODES, keep_highest, &highest);
  return highest;
}
