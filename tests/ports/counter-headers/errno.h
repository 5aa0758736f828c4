/* SPDX-License-Identifier: 0BSD OR MIT */
/* This system's header, but with an ENOTSUP that differs from EOPNOTSUPP, as on macOS. This ENOTSUP
   must also differ from every other errno. For check_ports.c. */

#pragma GCC system_header

#include_next <errno.h>

#undef ENOTSUP
#define ENOTSUP 10045
