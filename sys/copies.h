/* SPDX-License-Identifier: 0BSD OR MIT */
/* Names for libperfex's copies of functions in sys/. With these, a program can link all of both
   static libraries. */

#ifndef CPUCYCLES_COPIES_H
#define CPUCYCLES_COPIES_H

#ifdef CPUCYCLES_SYS_FOR_PERFEX
#define cpucycles_environment perfex_environment
#define cpucycles_can_open_file perfex_can_open_file
#define cpucycles_join_path perfex_join_path
#define cpucycles_kernel_line_add perfex_kernel_line_add
#define cpucycles_open_kernel_file perfex_open_kernel_file
#define cpucycles_read_kernel_file perfex_read_kernel_file
#define cpucycles_read_kernel_line perfex_read_kernel_line
#define cpucycles_read_kernel_text perfex_read_kernel_text
#define cpucycles_read_rest perfex_read_rest
#define cpucycles_read_some perfex_read_some
#endif

#endif
