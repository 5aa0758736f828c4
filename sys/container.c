/* SPDX-License-Identifier: 0BSD OR MIT */
/* Finds the container. Each row of the table has the signs of one kind of container.
   Source: systemd, "The Container Interface" (container, /run/systemd/container); Docker, Podman
   and CRI-O, which create /.dockerenv or /run/.containerenv; Kubernetes, "Accessing the API from a
   Pod" (/run/secrets/kubernetes.io, KUBERNETES_SERVICE_HOST), "Seccomp and Kubernetes" and
   "Configure a Security Context"; proc_pid_mountinfo(5); flatpak-run(1), --devel;
   lxc.container.conf(5); systemd-nspawn(1), --system-call-filter; google/gvisor, linux64.go, whose
   kernel always has one date; moby and containers-common, default seccomp profiles
   (perf_event_open with CAP_PERFMON, and in older releases of containers-common with CAP_SYS_ADMIN,
   too); Apptainer, "Security Options" (--security). */

#include "config.h"

#include "sys/container.h"

#include "sys/environment.h"
#include "sys/file.h"

#include <stddef.h>
#include <string.h>

#define ON_HOST CPUC_CONTAINER_SET("perf_event_paranoid=2") CPUC_CONTAINER_ON_HOST

/* The last two arguments add the capability: ", or ...", or "". */
#define STEPS(allow, or_perfmon, or_admin) \
  { NULL, allow, allow or_perfmon, allow ", and " ON_HOST, ON_HOST or_admin }
#define PROFILE "run the container with a seccomp profile that allows perf_event_open"
#define ENGINE_WITH(perfmon) STEPS(PROFILE, ", or with --cap-add " perfmon, \
  ", or run the container with --cap-add SYS_ADMIN")
#define ENGINE ENGINE_WITH("PERFMON")
#define PODMAN ENGINE_WITH("PERFMON,SYS_ADMIN")

/* Where a sign is. The first kind is found by its name in the variable `container` or in
   /run/systemd/container alone. */
enum place { NAME, FILE_EXISTS, VARIABLE, KERNEL_TEXT, CGROUP, ROOT_MOUNT };

/* The most specific kinds precede: an image may set `container` for another engine. */
static const struct row {
  struct cpuc_container container;
  struct {
    enum place place;
    const char *text;
  } signs[4];
} rows[] = {
  { { "gvisor", { "run outside of gVisor, which has no perf events" } },
    { { KERNEL_TEXT, "Jan 10 15:06:54 PST 2016" }, { KERNEL_TEXT, "-gvisor" } } },
  { { "kubernetes", STEPS("give the pod a securityContext.seccompProfile that allows "
        "perf_event_open (type Localhost or Unconfined)",
        ", or add PERFMON to securityContext.capabilities of the container",
        ", or add SYS_ADMIN to securityContext.capabilities of the container") },
    { { FILE_EXISTS, "/run/secrets/kubernetes.io" }, { VARIABLE, "KUBERNETES_SERVICE_HOST" },
      { CGROUP, "/kubepods" } } },
  { { "docker", ENGINE }, { { FILE_EXISTS, "/.dockerenv" }, { ROOT_MOUNT, "/var/lib/docker/" } } },
  { { "podman", PODMAN }, { { FILE_EXISTS, "/run/.containerenv" } } },
  { { "flatpak", STEPS("run it with flatpak run --devel", "", "") },
    { { FILE_EXISTS, "/.flatpak-info" } } },
  { { "apptainer", STEPS("run apptainer with --security=seccomp:FILE, which allows perf_event_open",
        "", "") }, { { FILE_EXISTS, "/.singularity.d" } } },
  { { "lxc", STEPS("allow perf_event_open in lxc.seccomp.profile of the container", "", "") },
    { { FILE_EXISTS, "/dev/lxd" }, { FILE_EXISTS, "/dev/incus" }, { CGROUP, ":/lxc" } } },
  { { "systemd-nspawn", STEPS("run systemd-nspawn with --system-call-filter=perf_event_open", "",
        "") }, { { NAME, NULL } } },
  { { "containerd", ENGINE },
    { { ROOT_MOUNT, "/var/lib/containerd/" }, { ROOT_MOUNT, "/io.containerd." } } },
  { { "wsl", ENGINE }, { { NAME, NULL } } },
  { { "rkt", ENGINE }, { { NAME, NULL } } },
  { { "proot", ENGINE }, { { NAME, NULL } } },
  { { "oci", PODMAN }, { { ROOT_MOUNT, "/var/lib/containers/" } } },
};

/* Searches the beginning of a file. */
static int file_contains(const char *path, const char *text)
{
  char start[1024];

  return cpuc_file_read_start(path, start, sizeof start) > 0 && strstr(start, text) != NULL;
}

/* Host processes see the mounts of containers, but the root of a container is its own. */
static int is_root_mount(const struct cpuc_file_line *line, void *text)
{
  return strstr(line->text, " / / ") && strstr(line->text, " - overlay ")
    && strstr(line->text, text);
}

static int has_sign(enum place place, const char *text)
{
  switch (place) {
  case NAME:
    break;
  case FILE_EXISTS:
    return cpuc_file_exists(text);
  case VARIABLE:
    return cpuc_environment(text) != NULL;
  case KERNEL_TEXT:
    return file_contains("/proc/version", text);
  case CGROUP:
    return file_contains("/proc/self/cgroup", text);
  case ROOT_MOUNT:
    return cpuc_file_read_lines("/proc/self/mountinfo", 16384, is_root_mount, (void *)text);
  }
  return 0;
}

const struct cpuc_container *cpuc_container_find(void)
{
  const char *variable = cpuc_environment("container");
  char found[64];
  size_t i, j;

  (void)cpuc_file_read_start("/run/systemd/container", found, sizeof found);
  found[strcspn(found, "\n")] = 0;
  for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const char *name = rows[i].container.name;

    if (strcmp(found, name) == 0 || (variable && strcmp(variable, name) == 0))
      return &rows[i].container;
    for (j = 0; j < 4 && rows[i].signs[j].text; j++)
      if (has_sign(rows[i].signs[j].place, rows[i].signs[j].text))
        return &rows[i].container;
  }
  return NULL;
}
