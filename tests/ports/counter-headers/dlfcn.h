/* SPDX-License-Identifier: 0BSD OR MIT */
/* The declarations of this header that default-selfcounts uses, for check_ports.c. This file hides
   the C library's own header, because a real dlsym() would not find thread_selfcounts. The function
   has another name in objects, because a sanitizer calls the C library's dlsym(). Source:
   POSIX.1-2008 dlsym; macOS, dlsym(3), RTLD_DEFAULT. */

#ifndef PORTS_DLFCN_H
#define PORTS_DLFCN_H

#define RTLD_DEFAULT ((void *)-2)

void *dlsym(void *handle, const char *symbol) __asm__("ports_dlsym");

#endif
