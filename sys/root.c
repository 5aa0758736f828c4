/* SPDX-License-Identifier: 0BSD OR MIT */
/* The root of this machine's file system. */

#include "config.h"

#include "sys/file.h"

const char *cpuc_root(void)
{
  return "";
}
