/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds an emulator: from binfmt_misc, if it starts programs of this architecture with an emulator;
   from CPUID, in which most emulators of x86 name themselves; from the architecture of the kernel;
   and from macOS. The emulator imitates the name of the architecture, too.
   Source: Linux, Documentation/admin-guide/binfmt-misc.rst and sysctl/kernel.rst; qemu,
   scripts/qemu-binfmt-conf.sh, linux-user/mips/target_syscall.h and hppa/target_syscall.h; FEX,
   docs/CPUID.md; box64, src/tools/my_cpuid.c and system/box64.conf.cmake; Apple, "Running Intel
   Binaries in Linux VMs with Rosetta". */

#include "config.h"

#include "sys/emulator.h"

#include "sys/cpuid.h"
#include "sys/file.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifdef CPUCYCLES_POSIX
#include <sys/utsname.h>
#endif

/* `sign` is in the vendor in leaf 0 of CPUID, the signature in leaf 40000000H or the name of the
   CPU. The interpreters start programs of x86-64, and of i386. */
static const struct emulator {
  const char *name, *sign, *interpreters[2];
} emulators[] = {
  { "Rosetta", "VirtualApple", { "rosetta", NULL } },
  { "QEMU TCG", "TCGTCGTCGTCG", { NULL, NULL } },
  { "FEX", "FEXIFEXIEMU", { "FEX-x86_64", "FEX-x86" } },
  { "box64", "Box64 on", { "box64", "box32" } },
  { "box86", "Box86 on", { NULL, "box86" } },
};

enum { EMULATORS = sizeof emulators / sizeof emulators[0] };

static const char *find_in_cpuid(void)
{
  struct cpuc_cpuid_leaf vendor = cpuc_cpuid_read(0), signature;
  char texts[3][49];
  int i, j;

  if (vendor.a == 0)
    return NULL;
  signature = cpuc_cpuid_read(0x40000000);
  cpuc_cpuid_copy_name(texts[0], vendor.b, vendor.d, vendor.c);
  cpuc_cpuid_copy_name(texts[1], signature.b, signature.c, signature.d);
  cpuc_cpuid_copy_brand(texts[2]);
  for (i = 0; i < EMULATORS; i++)
    for (j = 0; j < 3; j++)
      if (strstr(texts[j], emulators[i].sign))
        return emulators[i].name;
  return NULL;
}

#ifdef CPUCYCLES_POSIX

/* Returns 1 if binfmt_misc starts programs with the interpreter of this name. */
static int is_interpreter(const char *name)
{
  char path[96], text[16] = "";

  snprintf(path, sizeof path, "/proc/sys/fs/binfmt_misc/%s", name);
  return cpuc_file_read_start(path, text, sizeof text) > 0 && strncmp(text, "enabled\n", 8) == 0;
}

static int is_i386(const char *machine)
{
  return machine[0] == 'i' && strcmp(machine + 2, "86") == 0;
}

/* Returns the architecture in names of qemu's interpreters. Linux has the same names for both
   orders of bytes on MIPS. */
static const char *qemu_architecture(const char *machine)
{
  const unsigned int one = 1;
  int is_little = *(const unsigned char *)&one == 1;

  if (sizeof(void *) == 4 && strncmp(machine, "armv", 4) == 0)
    return "arm";
  if (is_little && strcmp(machine, "mips") == 0)
    return "mipsel";
  if (is_little && strcmp(machine, "mips64") == 0)
    return "mips64el";
  if (strcmp(machine, "parisc") == 0)
    return "hppa";
  return is_i386(machine) ? "i386" : machine;
}

/* Returns 1 if the kernel is for another family of CPUs. Containers hide binfmt_misc, but not this
   file, which Linux has since 6.1. The names of a family begin with one letter (arm, aarch64),
   except on x86. "um" is User Mode Linux, on any CPU. */
static int is_kernel_foreign(const char *machine)
{
  char kernel[16];

  return cpuc_file_read_start("/proc/sys/kernel/arch", kernel, sizeof kernel) > 0
    && *kernel != *machine && *kernel != 'u'
    && !(strstr(kernel, "86") && strstr(machine, "86"));
}

static const char *find_interpreter(void)
{
  static char qemu[48];
  struct utsname system;
  int i, is_64, is_x86;

  if (uname(&system) < 0)
    return NULL;
  is_64 = strcmp(system.machine, "x86_64") == 0;
  is_x86 = is_64 || is_i386(system.machine);
  for (i = 0; i < EMULATORS && is_x86; i++) {
    const char *name = emulators[i].interpreters[!is_64];

    if (name && is_interpreter(name))
      return emulators[i].name;
  }
  snprintf(qemu, sizeof qemu, "qemu-%.40s", qemu_architecture(system.machine));
  if (is_interpreter(qemu))
    return qemu;
  return is_kernel_foreign(system.machine) ? "user-mode (foreign kernel)" : NULL;
}

#endif

const char *cpuc_emulator_find(void)
{
  const char *name = cpuc_emulator_is_rosetta() ? "Rosetta" : find_in_cpuid();

#ifdef CPUCYCLES_POSIX
  if (!name)
    name = find_interpreter();
#endif
  return name;
}
