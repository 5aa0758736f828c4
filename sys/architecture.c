/* SPDX-License-Identifier: 0BSD OR MIT */
/* Asks the system for the name of the architecture. */

#include "config.h"

#include "sys/architecture.h"

#ifdef HAVE_SYS_UTSNAME_H
#include <stdio.h>
#include <sys/utsname.h>
#endif

void cpuc_architecture_name(char *name, int size)
{
#ifdef HAVE_SYS_UTSNAME_H
  struct utsname system;

  if (uname(&system) >= 0) {
    snprintf(name, (size_t)size, "%s", system.machine);
    return;
  }
#endif
  (void)size;
  *name = 0;
}
