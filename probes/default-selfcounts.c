/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links where macOS is, whether or not this one has thread_selfcounts. */

#ifndef __APPLE__
#error the target is not macOS
#endif

#include <dlfcn.h>
#include <stddef.h>

int main(void)
{
  return dlsym(RTLD_DEFAULT, "thread_selfcounts") == NULL;
}
