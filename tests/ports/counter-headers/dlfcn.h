/* SPDX-License-Identifier: 0BSD OR MIT */
/* For check_ports.c: what default-selfcounts needs of this header, which the C library has
   too, and which there would look for the symbol where it is not.
   Source: POSIX.1-2008 dlsym; macOS, dlsym(3), RTLD_DEFAULT. */

#ifndef PORTS_DLFCN_H
#define PORTS_DLFCN_H

#define RTLD_DEFAULT ((void *)-2)

void *dlsym(void *handle, const char *symbol);

#endif
