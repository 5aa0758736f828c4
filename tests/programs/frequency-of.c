/* SPDX-License-Identifier: 0BSD OR MIT */
/* frequency-of DIR: the library's estimate of the frequency for the machine whose files are
   below DIR, without any source of the machine that runs it. Prints "PERSECOND SOURCE", or
   "none". */

#include "config.h"

#include "lib/frequency.h"
#include "sys/os-thread.h"
#include "sys/guard.h"

#include <stdio.h>
#include <string.h>

static const char *no_environment(const char *name)
{
  (void)name;
  return NULL;
}

int main(int argc, char **argv)
{
  struct cpuc_platform host = { argv[argc - 1], no_environment, NULL, NULL, NULL, NULL };
  struct cpuc_frequency found;
  struct cpuc_os_thread_signals saved;

  if (argc != 2) {
    fprintf(stderr, "usage: frequency-of DIR\n");
    return 2;
  }
  cpuc_os_thread_block_signals(&saved);
  cpuc_guard_enter();
  found = cpuc_frequency_estimate(&host);
  cpuc_guard_leave();
  cpuc_os_thread_restore_signals(&saved);
  if (strcmp(found.source, "default") == 0)
    printf("none\n");
  else
    printf("%lld %s\n", found.persecond, found.source);
  return fclose(stdout) == 0 ? 0 : 1;
}
