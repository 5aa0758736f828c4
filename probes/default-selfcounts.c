/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links on macOS, with or without thread_selfcounts. */

#ifndef __APPLE__
#error the target is not macOS
#endif

#include <dlfcn.h>
#include <stddef.h>

int main(void)
{
  return dlsym(RTLD_DEFAULT, "thread_selfcounts") == NULL;
}
