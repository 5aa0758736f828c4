/* SPDX-License-Identifier: 0BSD OR MIT */
/* The system that the report is about. Nothing that identifies a person or a host is read: no
   host name, user or path. */

#include "config.h"

#include "cpucycles-info/fill.h"
#include "cpucycles-info/take.h"
#include "sys/hypervisor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_SYS_UTSNAME_H
#include <sys/utsname.h>
#endif
#ifdef HAVE_GNU_LIBC_VERSION_H
#include <gnu/libc-version.h>
#endif
#ifdef HAVE_SYSCTLBYNAME
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

#ifdef HAVE_SYS_UTSNAME_H
static void look_at_kernel(struct system_info *system)
{
  struct utsname name;

  if (uname(&name) < 0)
    return;
  take(system->kernel, sizeof system->kernel, name.sysname);
  take(system->release, sizeof system->release, name.release);
  take(system->architecture, sizeof system->architecture, name.machine);
}
#else
static void look_at_kernel(struct system_info *system)
{
  const char *kernel = getenv("OS"), *architecture = getenv("PROCESSOR_ARCHITECTURE");

  take(system->kernel, sizeof system->kernel, kernel ? kernel : "");
  take(system->architecture, sizeof system->architecture, architecture ? architecture : "");
}
#endif

static void look_at_libc(struct system_info *system)
{
#if defined(HAVE_GNU_LIBC_VERSION_H) && defined(__GLIBC__)
  snprintf(system->libc, sizeof system->libc, "glibc %s", gnu_get_libc_version());
#elif defined(__BIONIC__)
  take(system->libc, sizeof system->libc, "bionic");
#elif defined(__UCLIBC__)
  take(system->libc, sizeof system->libc, "uClibc");
#elif defined(_UCRT)
  take(system->libc, sizeof system->libc, "UCRT");
#elif defined(__MINGW32__)
  take(system->libc, sizeof system->libc, "MSVCRT");
#elif defined(__APPLE__)
  take(system->libc, sizeof system->libc, "libSystem");
#elif defined(__linux__)
  take(system->libc, sizeof system->libc, "musl or another"); /* musl does not say */
#else
  (void)system; /* the release of the system is its C library's, too */
#endif
}

/* By what the container's maker leaves in it. Names that are not known are not repeated: they
   can be anybody's. */
static void look_at_container(struct system_info *system, const char *root)
{
  static const char *const known[] = { "docker", "podman", "lxc", "systemd-nspawn", "oci", "wsl",
    "flatpak", "rkt", "proot" };
  static const struct {
    const char *path, *name;
  } marks[] = {
    { "/.dockerenv", "docker" },
    { "/run/.containerenv", "podman" },
    { "/.flatpak-info", "flatpak" },
  };
  const char *said = *root ? NULL : getenv("container");
  char text[64] = "";
  size_t i;

  if (read_kernel_text(root, "/run/systemd/container", text, sizeof text) > 0)
    said = text;
  text[strcspn(text, "\n")] = 0;
  for (i = 0; said && i < sizeof known / sizeof known[0]; i++)
    if (strcmp(said, known[i]) == 0)
      take(system->container, sizeof system->container, known[i]);
  for (i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (!*system->container && is_kernel_file(root, marks[i].path))
      take(system->container, sizeof system->container, marks[i].name);
}

/* Translates programs of another CPU, says macOS. */
static void look_at_emulator(struct system_info *system)
{
#ifdef HAVE_SYSCTLBYNAME
  int translated = 0;
  size_t size = sizeof translated;

  if (sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0 && translated == 1)
    take(system->emulator, sizeof system->emulator, "Rosetta");
#else
  (void)system;
#endif
}

void look_at_system(struct system_info *system, const char *root)
{
  const unsigned int one = 1;
  const char *hypervisor = find_hypervisor(root);

  look_at_kernel(system);
  look_at_libc(system);
  system->word_bits = (int)sizeof(void *) * 8;
  system->little_endian = *(const unsigned char *)&one == 1;
  take(system->hypervisor, sizeof system->hypervisor, hypervisor ? hypervisor : "");
  look_at_container(system, root);
  look_at_emulator(system);
}
