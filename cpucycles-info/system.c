/* SPDX-License-Identifier: 0BSD OR MIT */
/* Fills the section on the system. Copies nothing into the report that identifies a person or a
   host, such as a host name, user or path. */

#include "config.h"

#include "cpucycles-info/copy-line.h"
#include "cpucycles-info/fill.h"
#include "sys/cpuid.h"
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

/* Returns 1 if binfmt_misc starts programs with the interpreter of this name. */
static int is_interpreter(const char *name)
{
  char path[96], text[16] = "";

  snprintf(path, sizeof path, "/proc/sys/fs/binfmt_misc/%s", name);
  return cpuc_file_read_start(path, text, sizeof text) > 0 && strncmp(text, "enabled\n", 8) == 0;
}

static int is_translated_by_macos(void)
{
#ifdef HAVE_SYSCTLBYNAME
  int translated = 0;
  size_t size = sizeof translated;

  return sysctlbyname("sysctl.proc_translated", &translated, &size, NULL, 0) == 0
    && translated == 1;
#else
  return 0;
#endif
}

/* Returns the architecture in names of qemu's interpreters. */
static const char *qemu_architecture(const struct system_info *system)
{
  const char *name = system->architecture;

  if (system->pointer_bits == 32 && strncmp(name, "armv", 4) == 0)
    return "arm";
  return name[0] == 'i' && strcmp(name + 2, "86") == 0 ? "i386" : name;
}

/* Finds the emulator that runs this program or the whole machine: from binfmt_misc, if it starts
   programs of this architecture with an emulator; from CPUID, which has a signature under qemu
   without KVM, and the vendor "VirtualApple" under Rosetta; and from macOS. The emulator imitates
   the name of the architecture, too.
   Source: Linux, Documentation/admin-guide/binfmt-misc.rst; qemu, scripts/qemu-binfmt-conf.sh;
   Apple, "Running Intel Binaries in Linux VMs with Rosetta". */
static void find_emulator(struct system_info *system)
{
  struct cpuc_cpuid_leaf vendor = cpuc_cpuid_read(0), qemu = cpuc_cpuid_read(0x40000000);
  char name[48];

  snprintf(name, sizeof name, "qemu-%s", qemu_architecture(system));
  if (is_interpreter(name))
    copy_line(system->emulator, sizeof system->emulator, name);
  if (memcmp(&qemu.b, "TCGT", 4) == 0 && memcmp(&qemu.c, "CGTC", 4) == 0
    && memcmp(&qemu.d, "GTCG", 4) == 0)
    copy_line(system->emulator, sizeof system->emulator, "QEMU TCG");
  if (memcmp(&vendor.b, "Virt", 4) == 0 && memcmp(&vendor.d, "ualA", 4) == 0
    && memcmp(&vendor.c, "pple", 4) == 0)
    copy_line(system->emulator, sizeof system->emulator, "Rosetta");
  if (strcmp(system->architecture, "x86_64") == 0 && is_interpreter("rosetta"))
    copy_line(system->emulator, sizeof system->emulator, "Rosetta");
  if (is_translated_by_macos())
    copy_line(system->emulator, sizeof system->emulator, "Rosetta");
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
