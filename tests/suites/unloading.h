/* SPDX-License-Identifier: 0BSD OR MIT */

#ifndef CPUCYCLES_UNLOADING_H
#define CPUCYCLES_UNLOADING_H

#include "tests/suites/suite.h"

#include <dlfcn.h>

/* Skips a test that unloads the module if dlclose() does not unload it, as with musl. With glibc,
   the test is never skipped. Returns 1 if the test is skipped. */
static inline int skip_without_unloading(const char *test, const char *module)
{
#ifndef __GLIBC__
  void *loaded = dlopen(module, RTLD_NOW);

  if (!loaded)
    return skip_without_dlopen(test, dlerror());
  dlclose(loaded);
  if (dlopen(module, RTLD_NOW | RTLD_NOLOAD)) {
    skip(test, "this C library never unloads");
    return 1;
  }
#endif
  (void)test, (void)module;
  return 0;
}

#endif
