/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of this header that default-mach uses, for check_ports.c on systems other
   than macOS.
   Source: Apple developer documentation, "Mach Absolute Time": mach_absolute_time,
   mach_timebase_info and mach_timebase_info_data_t; kern_return_t is 0 for success. */

#ifndef PORTS_MACH_TIME_H
#define PORTS_MACH_TIME_H

#include <stdint.h>

typedef int kern_return_t;

typedef struct mach_timebase_info {
  uint32_t numer, denom;
} mach_timebase_info_data_t;

uint64_t mach_absolute_time(void);
kern_return_t mach_timebase_info(mach_timebase_info_data_t *info);

#endif
