/* SPDX-License-Identifier: 0BSD OR MIT */
/* Asks the system for the name of the architecture. Does not use snprintf(): its first call in a
   process takes a few microseconds, and would be part of the first call of the library. */

#include "config.h"

#include "sys/architecture.h"

#ifdef HAVE_SYS_UTSNAME_H
#include <string.h>
#include <sys/utsname.h>
#endif

void cpuc_architecture_name(char *name, int size)
{
#ifdef HAVE_SYS_UTSNAME_H
  struct utsname system;

  if (uname(&system) >= 0) {
    size_t length = strlen(system.machine);

    if (length >= (size_t)size)
      length = (size_t)size - 1;
    memcpy(name, system.machine, length);
    name[length] = 0;
    return;
  }
#endif
  (void)size;
  *name = 0;
}
