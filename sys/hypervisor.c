/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine. All signs are read, and the most specific one decides,
   because hypervisors imitate each other.
   Source: Linux, Documentation/virt/kvm/x86/cpuid.rst; Microsoft, Hypervisor Top Level Functional
   Specification, and Xen, xen/include/public/arch-x86/cpuid.h, for leaves in steps of 100H;
   Documentation/ABI/stable/sysfs-hypervisor-xen; drivers/firmware/dmi-id.c, for
   /sys/class/dmi/id; Documentation/devicetree/bindings/arm/xen.txt; arch/s390/kernel/sysinfo.c,
   for /proc/sysinfo; arch/x86/kernel/kvmclock.c; for names of clouds and products, systemd,
   src/basic/virt.c, and cloud-init, tools/ds-identify; for remedies, Amazon, "AWS Graviton Getting
   Started", perfrunbook/debug_hw_perf.md (sizes with a PMU); Google Cloud, "PMU overview"; Xen,
   "Xen Hypervisor Command Line Options" and xl.cfg(5), vpmu. */

#include "config.h"

#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/cpuid.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define CLOCKS "/sys/devices/system/clocksource/clocksource0/"

/* How specific a sign is. A sign of a higher rank decides. */
enum rank {
  NO_SIGN,
  UNKNOWN,   /* a text of a cloud, which whole machines have, too */
  UNNAMED,   /* there is a hypervisor */
  IMITATED,  /* leaves that KVM, Xen and others also have */
  EMULATOR,  /* QEMU, which can run with KVM or alone */
  INTERFACE, /* KVM or Xen, whose interface VirtualBox and others also have */
  PRODUCT,
  SERVICE /* a cloud or WSL, which determines what its user can change */
};

/* Where a text is searched. CPUID: a signature in EBX, ECX and EDX of the leaves 40000000H,
   40000100H, 40000200H and 40000300H. DMI: files in /sys/class/dmi/id, the beginnings of lines or
   any part of a line. RELEASE: /proc/sys/kernel/osrelease. CLOCK: clock sources of Linux; a guest
   has kvm-clock only if the kernel has found a KVM, even if the signatures are those of another
   hypervisor. XEN_TYPE: /sys/hypervisor/type. TREE and BOARD: `compatible` in the device tree, of
   its node hypervisor and of the board. SYSINFO: /proc/sysinfo. MACHINE: the line "machine" of
   /proc/cpuinfo on POWER. */
enum place { CPUID, DMI, RELEASE, CLOCK, XEN_TYPE, TREE, BOARD, SYSINFO, MACHINE };

#define GIVE_PMU "give the virtual machine a PMU"
#define LEAVE_MACHINE "run outside of the virtual machine"
#define OTHER_TYPE "use an instance type with a PMU, such as a bare-metal one"
#define EC2 "use an instance type with a PMU: a metal size, or generation 7 or later"
#define ON_X86(x86, others) (CPUC_HYPERVISOR_IS_X86 ? (x86) : (others))
#define CLOUD(name, text) { "KVM (" name ")", SERVICE, OTHER_TYPE, { { DMI, text } } }

/* Hypervisors, providers and products, and what a user can do if the virtual machine has no PMU. Of
   the rows with a sign in one place, the first one counts. WSL 1 ("-Microsoft") is no virtual
   machine. The board linux,dummy-virt is that of QEMU, Firecracker and others. bhyve's signature is
   also that of guests of PVM, which is a KVM. */
static const struct product {
  const char *name;
  enum rank rank;
  const char *remedy;
  struct {
    enum place place;
    const char *text; /* "": any text */
  } signs[6];
} products[] = {
  { "KVM (Amazon EC2)", SERVICE, EC2, { { DMI, "Amazon EC2" } } },
  { "Xen (Amazon EC2)", SERVICE, EC2, { { DMI, ".amazon\n" } } },
  { "KVM (Google Compute Engine)", SERVICE, "use a machine type with a PMU, such as C4 or C4A, "
    "created with --performance-monitoring-unit=architectural",
    { { DMI, "\nGoogle Compute Engine" } } },
  { "Hyper-V (Azure)", SERVICE, LEAVE_MACHINE,
    { { DMI, "\n7783-7084-3265-9085-8269-3286-77\n" } } },
  CLOUD("Alibaba Cloud", "\nAlibaba Cloud"),
  CLOUD("Tencent Cloud", "\nTencent Cloud"),
  CLOUD("DigitalOcean", "\nDigitalOcean"),
  CLOUD("Hetzner", "\nHetzner"),
  CLOUD("Vultr", "\nVultr"),
  CLOUD("Scaleway", "\nScaleway"),
  CLOUD("Linode", "\nLinode"),
  CLOUD("Akamai", "\nAkamai"),
  CLOUD("UpCloud", "\nUpCloud"),
  CLOUD("Exoscale", "\nExoscale"),
  CLOUD("Oracle Cloud", "\nOracleCloud.com\n"),
  CLOUD("OpenStack", "\nOpenStack"),
  { "Hyper-V (WSL2)", SERVICE,
    ON_X86(GIVE_PMU " (hardwarePerformanceCounters=true below [wsl2] in .wslconfig, then "
      "wsl --shutdown), or run outside of it", LEAVE_MACHINE),
    { { RELEASE, "microsoft" }, { RELEASE, "WSL2" } } },
  { "VMware", PRODUCT, GIVE_PMU " (vpmc.enable = TRUE), or run outside of it",
    { { CPUID, "VMwareVMware" }, { DMI, "\nVMware" }, { TREE, "vmware" } } },
  { "VirtualBox", PRODUCT, LEAVE_MACHINE,
    { { CPUID, "VBoxVBoxVBox" }, { DMI, "\nVirtualBox\n" }, { DMI, "\ninnotek" } } },
  { "Parallels", PRODUCT,
    ON_X86(GIVE_PMU " (prlctl set NAME --pmu-virt on), or run outside of it", LEAVE_MACHINE),
    { { CPUID, "prl hyperv" }, { CPUID, "lrpepyh" }, { DMI, "\nParallels" } } },
  { "bhyve", PRODUCT, LEAVE_MACHINE, { { DMI, "\nBHYVE" } } },
  { "Apple Virtualization", PRODUCT, LEAVE_MACHINE, { { DMI, "\nApple Virtualization" } } },
  { "QEMU TCG", PRODUCT, LEAVE_MACHINE, { { CPUID, "TCGTCGTCGTCG" } } },
  { "ACRN", PRODUCT, LEAVE_MACHINE, { { CPUID, "ACRNACRNACRN" } } },
  { "NVMM", PRODUCT, LEAVE_MACHINE, { { CPUID, "___ NVMM ___" } } },
  { "OpenBSD vmm", PRODUCT, LEAVE_MACHINE, { { CPUID, "OpenBSDVMM58" } } },
  { "z/VM", PRODUCT, LEAVE_MACHINE, { { SYSINFO, "z/VM" } } },
  { "KVM", INTERFACE, CPUC_HYPERVISOR_QEMU_HAS_PMU_OPTION
      ? GIVE_PMU " (QEMU: -cpu host,pmu=on), or run outside of it"
      : GIVE_PMU ", or run outside of it",
    { { CPUID, "KVMKVMKVM" }, { CPUID, "Linux KVM Hv" }, { DMI, "\nKVM" },
      { CLOCK, "kvm-clock" }, { TREE, "kvm" }, { SYSINFO, "KVM" } } },
  { "Xen", INTERFACE, ON_X86(GIVE_PMU " (vpmu=on on Xen's command line), or run outside of it",
      GIVE_PMU " (vpmu=1 in its xl.cfg), or run outside of it"),
    { { CPUID, "XenVMMXenVMM" }, { DMI, "\nXen\n" }, { XEN_TYPE, "xen" }, { TREE, "xen" } } },
  { "QEMU", EMULATOR, GIVE_PMU ", or run outside of it",
    { { DMI, "\nQEMU" }, { BOARD, "riscv-virtio" }, { MACHINE, "emulated by qemu" } } },
  { "Hyper-V", IMITATED,
    GIVE_PMU " (Set-VMProcessor -Perfmon @(\"pmu\")), or run outside of it",
    { { CPUID, "Microsoft Hv" }, { DMI, "\nVirtual Machine\n" } } },
  { "bhyve", IMITATED, LEAVE_MACHINE, { { CPUID, "bhyve bhyve " } } },
  { CPUC_HYPERVISOR_UNNAMED, UNNAMED, LEAVE_MACHINE,
    { { CPUID, "" }, { XEN_TYPE, "" }, { TREE, "" }, { BOARD, "linux,dummy-virt" } } },
};

enum { PRODUCTS = sizeof products / sizeof products[0] };

static const struct product none = { NULL, NO_SIGN, NULL, { { CPUID, NULL } } };
static const struct product unknown
  = { CPUC_HYPERVISOR_UNKNOWN, UNKNOWN, NULL, { { CPUID, NULL } } };

enum answer { NO, MAYBE, YES };

struct search {
  enum answer is_virtual; /* MAYBE where the CPU does not have CPUID */
  const struct product *best;
};

static void note(struct search *search, const struct product *product)
{
  if (product->rank > search->best->rank)
    search->best = product;
}

static int has_sign(const struct product *product, enum place place, const char *text)
{
  int i;

  for (i = 0; i < 6 && product->signs[i].text; i++)
    if (product->signs[i].place == place && strstr(text, product->signs[i].text))
      return 1;
  return 0;
}

/* Keeps the first product with a sign in the text, if its rank is higher than that of all earlier
   signs. Texts of a cloud alone do not show whether the machine is a virtual one. */
static void note_text(struct search *search, enum place place, const char *text)
{
  int i = 0;

  while (i < PRODUCTS && !has_sign(&products[i], place, text))
    i++;
  if (i == PRODUCTS || (products[i].rank == SERVICE && search->is_virtual == NO))
    return;
  if (products[i].rank == SERVICE && place == DMI && search->is_virtual == MAYBE) {
    note(search, &unknown);
    return;
  }
  search->is_virtual = YES;
  note(search, &products[i]);
}

static void search_file(struct search *search, const char *path, enum place place)
{
  char text[4096];

  if (cpuc_file_read_start(path, text, sizeof text) >= 0)
    note_text(search, place, text);
}

/* Searches the rest of a line. Has a small buffer, because reading lines takes stack, too. */
static void search_line(struct search *search, const char *path, const char *key,
  enum place place)
{
  char text[128];

  if (cpuc_file_read_line(path, key, text, sizeof text) >= 0)
    note_text(search, place, text);
}

/* Reads the signatures until one is not imitated. The leaves of what a hypervisor imitates come
   first, and its own leaves follow. Each execution of CPUID takes microseconds in a guest. An
   emulator of a CPU imitates CPUID, too, so that it shows nothing of the machine. */
static void search_cpuid(struct search *search)
{
  struct cpuc_cpuid_leaf leaf;
  unsigned int base;
  char signature[13];

  if (cpuc_cpuid_read(0).a == 0)
    return;
  search->is_virtual = cpuc_cpuid_read(1).c >> 31 ? YES : NO;
  for (base = 0x40000000;
       search->is_virtual == YES && base <= 0x40000300 && search->best->rank < INTERFACE;
       base += 0x100) {
    leaf = cpuc_cpuid_read(base);
    cpuc_cpuid_copy_name(signature, leaf.b, leaf.c, leaf.d);
    if (strcmp(signature, "FEXIFEXIEMU") == 0) {
      search->is_virtual = MAYBE;
      return;
    }
    note_text(search, CPUID, signature);
  }
}

/* A virtio device of type 7, rpmsg, is a coprocessor on the same chip. */
static void count_device(const char *name, void *count)
{
  char path[96], type[8];

  snprintf(path, sizeof path, "/sys/bus/virtio/devices/%.32s/device", name);
  (void)cpuc_file_read_start(path, type, sizeof type);
  *(int *)count += *name != '.' && strcmp(type, "0x0007\n") != 0;
}

/* Searches the devices that only hypervisors have. */
static void search_buses(struct search *search)
{
  static const char *const buses[] = { "/sys/bus/virtio/devices", "/sys/bus/xen/devices",
    "/sys/bus/vmbus/devices" };
  int count = 0;
  size_t i;

  for (i = 0; i < sizeof buses / sizeof buses[0]; i++)
    cpuc_file_list(buses[i], count_device, &count);
  if (count == 0)
    return;
  search->is_virtual = YES;
  note(search, &products[PRODUCTS - 1]);
}

/* Searches the files of DMI as one text, in which each line follows a newline. Whole machines of
   EC2 have ".metal" in their names, so that those of all others are virtual. */
static void search_dmi(struct search *search)
{
  static const char *const files[] = { "/sys/class/dmi/id/product_name",
    "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/chassis_asset_tag",
    "/sys/class/dmi/id/bios_version", "/sys/class/dmi/id/board_vendor",
    "/sys/class/dmi/id/board_name" };
  char text[6 * 128 + 2];
  size_t used = 0, i;
  int length;

  for (i = 0; i < sizeof files / sizeof files[0]; i++) {
    text[used++] = '\n';
    length = cpuc_file_read_start(files[i], text + used, 126);
    used += length > 0 ? (size_t)length : 0;
  }
  strcpy(text + used, "\n");
  if (strstr(text, ".metal"))
    search->is_virtual = NO;
  else if (strstr(text, "Amazon EC2") && search->is_virtual == MAYBE)
    search->is_virtual = YES;
  note_text(search, DMI, text);
}

const char *cpuc_hypervisor_find(const char **remedy)
{
  struct search search = { MAYBE, &none };

  search_cpuid(&search);
  search_file(&search, "/sys/hypervisor/type", XEN_TYPE);
  search_file(&search, "/proc/device-tree/hypervisor/compatible", TREE);
  search_file(&search, "/proc/device-tree/compatible", BOARD);
  search_file(&search, CLOCKS "current_clocksource", CLOCK);
  search_file(&search, CLOCKS "available_clocksource", CLOCK);
  if (search.is_virtual == MAYBE)
    search_buses(&search);
  search_dmi(&search);
  search_line(&search, "/proc/sysinfo", "VM00 Control Program:", SYSINFO);
  search_line(&search, "/proc/cpuinfo", "machine", MACHINE);
  search_file(&search, "/proc/sys/kernel/osrelease", RELEASE);
  *remedy = search.best->remedy;
  return search.best->name;
}
