/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the section on the system. Copies nothing into the report that identifies a person or a
   host, such as a host name, user or path. */

#include "config.h"

#include "cpucycles-info/copy-line.h"
#include "cpucycles-info/fill.h"
#include "sys/hypervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CPUCYCLES_POSIX
#include <sys/utsname.h>
#endif
#ifdef HAVE_GNU_LIBC_VERSION_H
#include <gnu/libc-version.h>
#endif
#ifdef HAVE_SYSCTLBYNAME
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

#ifdef CPUCYCLES_POSIX
static void fill_kernel(struct system_info *system)
{
  struct utsname name;

  if (uname(&name) < 0)
    return;
  copy_line(system->kernel, sizeof system->kernel, name.sysname);
  copy_line(system->release, sizeof system->release, name.release);
  copy_line(system->architecture, sizeof system->architecture, name.machine);
}
#else
static void fill_kernel(struct system_info *system)
{
  const char *kernel = getenv("OS"), *architecture = getenv("PROCESSOR_ARCHITECTURE");

  copy_line(system->kernel, sizeof system->kernel, kernel ? kernel : "");
  copy_line(system->architecture, sizeof system->architecture, architecture ? architecture : "");
}
#endif

static void fill_libc(struct system_info *system)
{
#if defined(HAVE_GNU_LIBC_VERSION_H) && defined(__GLIBC__)
  snprintf(system->libc, sizeof system->libc, "glibc %s", gnu_get_libc_version());
#elif defined(__BIONIC__)
  copy_line(system->libc, sizeof system->libc, "bionic");
#elif defined(__UCLIBC__)
  copy_line(system->libc, sizeof system->libc, "uClibc");
#elif defined(_UCRT)
  copy_line(system->libc, sizeof system->libc, "UCRT");
#elif defined(__MINGW32__)
  copy_line(system->libc, sizeof system->libc, "MSVCRT");
#elif defined(__APPLE__)
  copy_line(system->libc, sizeof system->libc, "libSystem");
#elif defined(__linux__)
  copy_line(system->libc, sizeof system->libc, "musl or another"); /* musl has no macro */
#else
  (void)system; /* the C library belongs to the release of the system */
#endif
}

/* Finds the container runtime from files and a variable in the container. Does not print an unknown
   name, because a person may have chosen it. */
static void find_container(struct system_info *system)
{
  static const char *const known[] = { "docker", "podman", "lxc", "systemd-nspawn", "oci", "wsl",
    "flatpak", "rkt", "proot" };
  static const struct {
    const char *path, *name;
  } files[] = {
    { "/.dockerenv", "docker" },
    { "/run/.containerenv", "podman" },
    { "/.flatpak-info", "flatpak" },
  };
  const char *name = getenv("container");
  char text[64] = "";
  size_t i;

  if (cpuc_file_read_start("/run/systemd/container", text, sizeof text) > 0)
    name = text;
  text[strcspn(text, "\n")] = 0;
  for (i = 0; name && i < sizeof known / sizeof known[0]; i++)
    if (strcmp(name, known[i]) == 0)
      copy_line(system->container, sizeof system->container, known[i]);
  for (i = 0; i < sizeof files / sizeof files[0]; i++)
    if (!*system->container && cpuc_file_exists(files[i].path))
      copy_line(system->container, sizeof system->container, files[i].name);
}

/* Finds out whether macOS translates this program from another architecture. */
static void find_emulator(struct system_info *system)
{
#ifdef HAVE_SYSCTLBYNAME
  int translated = 0;
  size_t size = sizeof translated;

  if (sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0 && translated == 1)
    copy_line(system->emulator, sizeof system->emulator, "Rosetta");
#else
  (void)system;
#endif
}

void fill_system(struct system_info *system)
{
  const unsigned int one = 1;
  const char *hypervisor = cpuc_hypervisor_find();

  fill_kernel(system);
  fill_libc(system);
  system->pointer_bits = (int)sizeof(void *) * 8;
  system->little_endian = *(const unsigned char *)&one == 1;
  copy_line(system->hypervisor, sizeof system->hypervisor, hypervisor ? hypervisor : "");
  find_container(system);
  find_emulator(system);
}
