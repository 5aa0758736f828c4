/* SPDX-License-Identifier: 0BSD OR MIT */
/* The counters in cpucycles-internals(7). The preprocessor replaces the rows; @ begins a line. */

#define CPUCYCLES_BACKEND(id, name, summary) .It Li name@summary@
#include "backends/backends.def"
