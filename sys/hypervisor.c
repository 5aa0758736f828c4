/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine. All signs are read, and the most specific one decides,
   because hypervisors imitate each other.
   Source: Linux, Documentation/virt/kvm/x86/cpuid.rst; Microsoft, Hypervisor Top Level Functional
   Specification, and Xen, xen/include/public/arch-x86/cpuid.h, for leaves in steps of 100H;
   Documentation/ABI/stable/sysfs-hypervisor-xen; drivers/firmware/dmi-id.c, for
   /sys/class/dmi/id; Documentation/devicetree/bindings/arm/xen.txt; arch/s390/kernel/sysinfo.c,
   for /proc/sysinfo; arch/x86/kernel/kvmclock.c; for names of clouds and products, systemd,
   src/basic/virt.c, and cloud-init, tools/ds-identify. */

#include "config.h"

#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/cpuid.h"

#include <stddef.h>
#include <string.h>

/* How specific a sign is. A sign of a higher rank decides. */
enum rank {
  NO_SIGN,
  UNNAMED,   /* there is a hypervisor */
  IMITATED,  /* leaves that KVM, Xen and others also have */
  EMULATOR,  /* QEMU, which can run with KVM or alone */
  INTERFACE, /* KVM or Xen, whose interface VirtualBox and others also have */
  PRODUCT,
  SERVICE /* a cloud or WSL, which determines what its user can change; bare machines of a cloud
             have this sign, too */
};

/* A text that is a sign of a hypervisor, and the name of the hypervisor. The last row of each table
   has no text. */
struct sign {
  const char *text, *name;
  enum rank rank;
};

/* Signatures in EBX, ECX and EDX of CPUID leaves 40000000H, 40000100H, 40000200H and 40000300H. */
static const struct sign signatures[] = {
  { "KVMKVMKVM", "KVM", INTERFACE },
  { "Linux KVM Hv", "KVM", INTERFACE },
  { "XenVMMXenVMM", "Xen", INTERFACE },
  { "TCGTCGTCGTCG", "QEMU TCG", PRODUCT },
  { "VMwareVMware", "VMware", PRODUCT },
  { "VBoxVBoxVBox", "VirtualBox", PRODUCT },
  { "ACRNACRNACRN", "ACRN", PRODUCT },
  { "prl hyperv", "Parallels", PRODUCT },
  { "lrpepyh", "Parallels", PRODUCT },
  { "___ NVMM ___", "NVMM", PRODUCT },
  { "OpenBSDVMM58", "OpenBSD vmm", PRODUCT },
  { "Microsoft Hv", "Hyper-V", IMITATED },
  { "bhyve bhyve ", "bhyve", IMITATED }, /* also in guests of PVM, which is a KVM */
  { NULL, NULL, NO_SIGN },
};

/* Texts in /sys/class/dmi/id: the beginnings of lines, or any part of a line. */
static const struct sign dmi_texts[] = {
  { "Amazon EC2", "KVM (Amazon EC2)", SERVICE },
  { ".amazon\n", "Xen (Amazon EC2)", SERVICE },
  { "\nGoogle Compute Engine", "KVM (Google Compute Engine)", SERVICE },
  { "\n7783-7084-3265-9085-8269-3286-77\n", "Hyper-V (Azure)", SERVICE },
  { "\nAlibaba Cloud", "KVM (Alibaba Cloud)", SERVICE },
  { "\nTencent Cloud", "KVM (Tencent Cloud)", SERVICE },
  { "\nDigitalOcean", "KVM (DigitalOcean)", SERVICE },
  { "\nHetzner", "KVM (Hetzner)", SERVICE },
  { "\nVultr", "KVM (Vultr)", SERVICE },
  { "\nScaleway", "KVM (Scaleway)", SERVICE },
  { "\nLinode", "KVM (Linode)", SERVICE },
  { "\nOracleCloud.com\n", "KVM (Oracle Cloud)", SERVICE },
  { "\nOpenStack", "KVM (OpenStack)", SERVICE },
  { "\nVMware", "VMware", PRODUCT },
  { "\nVirtualBox\n", "VirtualBox", PRODUCT },
  { "\ninnotek", "VirtualBox", PRODUCT },
  { "\nParallels", "Parallels", PRODUCT },
  { "\nBHYVE", "bhyve", PRODUCT },
  { "\nApple Virtualization", "Apple Virtualization", PRODUCT },
  { "\nKVM", "KVM", INTERFACE },
  { "\nXen\n", "Xen", INTERFACE },
  { "\nQEMU", "QEMU", EMULATOR },
  { "\nVirtual Machine\n", "Hyper-V", IMITATED },
  { NULL, NULL, NO_SIGN },
};

/* Texts in /proc/sys/kernel/osrelease. WSL 1 ("-Microsoft") is no virtual machine. */
static const struct sign releases[] = {
  { "microsoft", "Hyper-V (WSL2)", SERVICE },
  { "WSL2", "Hyper-V (WSL2)", SERVICE },
  { NULL, NULL, NO_SIGN },
};

#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"

/* Clock sources of Linux. A guest has kvm-clock only if the kernel has found a KVM, even if the
   signatures are those of another hypervisor. */
static const struct sign clocks[] = {
  { "kvm-clock", "KVM", INTERFACE },
  { NULL, NULL, NO_SIGN },
};

static const struct sign xen_files[] = {
  { "xen", "Xen", INTERFACE },
  { NULL, CPUC_HYPERVISOR_UNNAMED, UNNAMED },
};

/* Texts in /proc/device-tree/hypervisor/compatible. */
static const struct sign trees[] = {
  { "kvm", "KVM", INTERFACE },
  { "xen", "Xen", INTERFACE },
  { "vmware", "VMware", PRODUCT },
  { NULL, CPUC_HYPERVISOR_UNNAMED, UNNAMED },
};

/* Texts in /proc/device-tree/compatible. The board linux,dummy-virt is that of virtual machines of
   QEMU, Firecracker and others. */
static const struct sign boards[] = {
  { "riscv-virtio", "QEMU", EMULATOR },
  { "linux,dummy-virt", CPUC_HYPERVISOR_UNNAMED, UNNAMED },
  { NULL, NULL, NO_SIGN },
};

/* Texts in /proc/sysinfo. */
static const struct sign mainframes[] = {
  { "KVM", "KVM", INTERFACE },
  { "z/VM", "z/VM", PRODUCT },
  { NULL, NULL, NO_SIGN },
};

/* Texts in the line "machine" of /proc/cpuinfo on POWER. */
static const struct sign machines[] = {
  { "emulated by qemu", "QEMU", EMULATOR },
  { NULL, NULL, NO_SIGN },
};

enum answer { NO, MAYBE, YES };

struct search {
  enum answer is_virtual; /* MAYBE where the CPU does not have CPUID */
  struct sign best;
};

/* Keeps the sign whose text occurs first in the table, if its rank is higher than that of all
   earlier signs. */
static void note_sign(struct search *search, const struct sign *known, const char *text)
{
  while (known->text && !strstr(text, known->text))
    known++;
  if (known->rank == SERVICE && search->is_virtual == NO)
    return;
  if (known->rank > search->best.rank)
    search->best = *known;
}

static void search_file(struct search *search, const char *path, const struct sign *known)
{
  char text[4096];

  if (cpuc_file_read_start(path, text, sizeof text) >= 0)
    note_sign(search, known, text);
}

static void search_line(struct search *search, const char *path, const char *key,
  const struct sign *known)
{
  char text[128];

  if (cpuc_file_read_line(path, key, text, sizeof text) >= 0)
    note_sign(search, known, text);
}

/* Reads the signatures until one is not imitated. The leaves of what a hypervisor imitates come
   first, and its own leaves follow. Each execution of CPUID takes microseconds in a guest. */
static void search_cpuid(struct search *search)
{
  static const struct sign unnamed = { NULL, CPUC_HYPERVISOR_UNNAMED, UNNAMED };
  struct cpuc_cpuid_leaf leaf;
  unsigned int base, signature[4] = { 0 };

  if (cpuc_cpuid_read(0).a == 0)
    return;
  search->is_virtual = cpuc_cpuid_read(1).c >> 31 ? YES : NO;
  if (search->is_virtual == NO)
    return;
  note_sign(search, &unnamed, "");
  for (base = 0x40000000; base <= 0x40000300 && search->best.rank < INTERFACE; base += 0x100) {
    leaf = cpuc_cpuid_read(base);
    signature[0] = leaf.b;
    signature[1] = leaf.c;
    signature[2] = leaf.d;
    note_sign(search, signatures, (const char *)signature);
  }
}

/* Searches the files of DMI as one text, in which each line follows a newline. */
static void search_dmi(struct search *search)
{
  static const char *const files[] = { "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/chassis_asset_tag",
    "/sys/class/dmi/id/bios_version" };
  char text[4 * 128 + 2];
  size_t used = 0, i;
  int length;

  for (i = 0; i < sizeof files / sizeof files[0]; i++) {
    text[used++] = '\n';
    length = cpuc_file_read_start(files[i], text + used, 126);
    used += length > 0 ? (size_t)length : 0;
  }
  strcpy(text + used, "\n");
  if (strstr(text, ".metal")) /* a whole machine of EC2 */
    search->is_virtual = NO;
  note_sign(search, dmi_texts, text);
}

const char *cpuc_hypervisor_find(void)
{
  struct search search = { MAYBE, { NULL, NULL, NO_SIGN } };

  search_cpuid(&search);
  search_file(&search, "/sys/hypervisor/type", xen_files);
  search_file(&search, "/proc/device-tree/hypervisor/compatible", trees);
  search_file(&search, "/proc/device-tree/compatible", boards);
  search_file(&search, CLOCKS "current_clocksource", clocks);
  search_file(&search, CLOCKS "available_clocksource", clocks);
  search_dmi(&search);
  search_line(&search, "/proc/sysinfo", "VM00 Control Program:", mainframes);
  search_line(&search, "/proc/cpuinfo", "machine", machines);
  search_file(&search, "/proc/sys/kernel/osrelease", releases);
  return search.best.name;
}
