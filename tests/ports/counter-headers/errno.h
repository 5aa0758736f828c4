/* SPDX-License-Identifier: 0BSD OR MIT */
/* This system's header, but with an ENOTSUP that differs from EOPNOTSUPP, as on macOS. It must
   differ from every other errno, too. For check_ports.c. */

#pragma GCC system_header

#include_next <errno.h>

#undef ENOTSUP
#define ENOTSUP 10045
