/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the hypervisor of this machine: from CPUID if the CPU has it, otherwise from files of the
   kernel. Source: Linux, Documentation/virt/kvm/x86/cpuid.rst, and the hypervisors' own manuals,
   for leaf 40000000H; Documentation/ABI/stable/sysfs-hypervisor-xen;
   drivers/firmware/dmi-id.c, for /sys/class/dmi/id; Documentation/devicetree/bindings/arm/xen.txt;
   arch/s390/kernel/sysinfo.c, for /proc/sysinfo. */

#include "config.h"

#include "sys/file.h"
#include "sys/hypervisor.h"
#include "sys/cpuid.h"

#include <stddef.h>
#include <string.h>

/* A text that identifies a hypervisor, and the name of the hypervisor. The last row of each table
   has no text; its name is the result if no row above it matches. */
struct known_hypervisor {
  const char *text, *name;
};

static const struct known_hypervisor signatures[] = {
  { "KVMKVMKVM", "KVM" },
  { "Linux KVM Hv", "KVM" },
  { "TCGTCGTCGTCG", "QEMU TCG" },
  { "VMwareVMware", "VMware" },
  { "Microsoft Hv", "Hyper-V" },
  { "XenVMMXenVMM", "Xen" },
  { "VBoxVBoxVBox", "VirtualBox" },
  { "bhyve bhyve ", "bhyve" },
  { "ACRNACRNACRN", "ACRN" },
  { "prl hyperv", "Parallels" },
  { "lrpepyh", "Parallels" },
  { NULL, CPUC_HYPERVISOR_UNNAMED },
};

/* Texts in /proc/device-tree/hypervisor/compatible. */
static const struct known_hypervisor trees[] = {
  { "kvm", "KVM" },
  { "xen", "Xen" },
  { "vmware", "VMware" },
  { NULL, CPUC_HYPERVISOR_UNNAMED },
};

/* Texts in /proc/device-tree/compatible. */
static const struct known_hypervisor boards[] = {
  { "riscv-virtio", "QEMU" },
  { NULL, NULL },
};

/* Texts in /sys/class/dmi/id. */
static const struct known_hypervisor dmi_texts[] = {
  { "QEMU", "QEMU" },
  { "KVM", "KVM" },
  { "VMware", "VMware" },
  { "VirtualBox", "VirtualBox" },
  { "innotek", "VirtualBox" },
  { "Xen", "Xen" },
  { "Parallels", "Parallels" },
  { "BHYVE", "bhyve" },
  { "Virtual Machine", "Hyper-V" },
  { "Google Compute Engine", "KVM" },
  { "Apple Virtualization", "Apple Virtualization" },
  { NULL, NULL },
};

/* Texts in /proc/sysinfo. */
static const struct known_hypervisor mainframes[] = {
  { "KVM", "KVM" },
  { "z/VM", "z/VM" },
  { NULL, NULL },
};

static const char *name_of_text(const struct known_hypervisor *known, const char *text)
{
  while (known->text && !strstr(text, known->text))
    known++;
  return known->name;
}

/* Returns the name of the hypervisor that CPUID reports, or NULL. */
static const char *from_cpuid(void)
{
  struct cpuc_cpuid_leaf leaf;
  unsigned int signature[4] = { 0 };

  if (!(cpuc_cpuid_read(1).c >> 31))
    return NULL;
  leaf = cpuc_cpuid_read(0x40000000);
  signature[0] = leaf.b;
  signature[1] = leaf.c;
  signature[2] = leaf.d;
  return name_of_text(signatures, (const char *)signature);
}

static const char *from_files(void)
{
  char text[4096];
  const char *name = NULL;
  int is_dummy = 0; /* 1 for the board of virtual machines of QEMU, Firecracker and others */

  if (cpuc_file_read_start("/sys/hypervisor/type", text, sizeof text) >= 0)
    return strstr(text, "xen") ? "Xen" : CPUC_HYPERVISOR_UNNAMED;
  if (cpuc_file_read_start("/proc/device-tree/hypervisor/compatible", text, sizeof text) >= 0)
    return name_of_text(trees, text);
  if (cpuc_file_read_start("/proc/device-tree/compatible", text, sizeof text) >= 0) {
    name = name_of_text(boards, text);
    is_dummy = strstr(text, "linux,dummy-virt") != NULL;
  }
  if (!name && cpuc_file_read_start("/sys/class/dmi/id/product_name", text, sizeof text) >= 0)
    name = name_of_text(dmi_texts, text);
  if (!name && cpuc_file_read_start("/sys/class/dmi/id/sys_vendor", text, sizeof text) >= 0)
    name = name_of_text(dmi_texts, text);
  if (!name
    && cpuc_file_read_line("/proc/sysinfo", "VM00 Control Program:", text, sizeof text) >= 0)
    name = name_of_text(mainframes, text);
  if (!name && cpuc_file_read_line("/proc/cpuinfo", "machine", text, sizeof text) >= 0
    && strstr(text, "emulated by qemu"))
    name = "QEMU";
  return !name && is_dummy ? CPUC_HYPERVISOR_UNNAMED : name;
}

const char *cpuc_hypervisor_find(void)
{
  return cpuc_cpuid_read(0).a ? from_cpuid() : from_files();
}
