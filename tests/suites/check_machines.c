/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests that the frequency estimate for each recorded machine is within the known limits of the
   machine. If a file is truncated, the estimate is within wider limits, or is the default. "make
   check-soak" truncates each file at every byte. The recorded machines are not part of the project.
   tests/machines has further machines, written by hand. */

#include "config.h"

#include "tests/suites/child.h"
#include "tests/suites/estimate.h"

#include <ftw.h>
#include <unistd.h>

#define HERE "tests/machines/"

/* Limits of 0: no source answers. */
static const struct machine {
  const char *name;
  long long lowest, highest;
  long long lowest_if_truncated; /* if a file is truncated; 0: equal to lowest */
} machines[] = {
  { "armv7", 1700000000, 1700000000, 0 },
  { "arm-A510-A710-A715-X3", 0, 0, 0 },
  { "loongarch-loongson_3a5000_hv", 2500000000, 2500000000, 0 },
  { "ppc64-POWER7", 3000000000, 3000000000, 0 },
  { "ppc-qemu", 266000000, 266000000, 0 },
  { "rv64-visionfive2", 0, 0, 0 },
  { "s390-lpar-drawer", 5000000000, 5000000000, 0 },
  { "s390-kvm", 0, 0, 0 },
  { "sparc64", 248000000, 248000000, 0 },
  { "vbox-win", 1700000000, 3800000000, 0 },
  { "x86_64-64cpu-linux6.2", 2800000000, 4700000000, 0 },
  { "x86_64-dell_e4310", 2600000000, 3200000000, 0 },
  { HERE "big-little", 3000000000, 3000000000, 1800000000 },
  { HERE "idle-cores", 2100000000, 2100000000, 0 },
  { HERE "model-without-frequency", 2245780000, 2245780000, 1500000000 },
};

enum { MACHINES = sizeof machines / sizeof machines[0] };

static int is_ours(const struct machine *machine)
{
  return strncmp(machine->name, HERE, strlen(HERE)) == 0;
}

static const char *root_of(const struct machine *machine)
{
  static char root[1024];
  const char *srcdir = getenv("srcdir");

  if (!is_ours(machine))
    return recorded_machine(machine->name);
  snprintf(root, sizeof root, "%s/%s", srcdir ? srcdir : ".", machine->name);
  return root;
}

static int is_default(const struct cpuc_frequency *found)
{
  return strcmp(found->source, "default") == 0;
}

/* Returns 1 and reports it if the files of this machine are missing. */
static int is_missing(const struct machine *machine)
{
  if (access(root_of(machine), R_OK) == 0)
    return 0;
  ck_assert_msg(!is_ours(machine), "%s is missing", root_of(machine));
  skip_part("(%s) the directory of recorded machines does not contain it", machine->name);
  return 1;
}

static void expect_whole(const struct machine *machine)
{
  struct cpuc_frequency found;

  if (is_missing(machine))
    return;
  files_root = root_of(machine);
  found = estimate();
  ck_assert_msg(is_default(&found) == (machine->lowest == 0), "%s: %s", machine->name,
    found.source);
  ck_assert_msg(is_default(&found) || (found.persecond >= machine->lowest
    && found.persecond <= machine->highest), "%s: %lld", machine->name, found.persecond);
}

TEST(estimate_is_within_the_limits_of_each_machine)
{
  int i;

  for (i = 0; i < MACHINES; i++)
    expect_whole(&machines[i]);
}

static const struct machine *walked; /* by nftw() */

/* Truncates a file in steps, and writes it again. */
static int truncate_in_steps(const char *path, const struct stat *status, int type,
  struct FTW *where)
{
  long long lowest = walked->lowest_if_truncated ? walked->lowest_if_truncated : walked->lowest;
  long size = status->st_size, step = suite_soaks() ? 1 : 61;
  FILE *file = fopen(path, "r");
  char *content = malloc((size_t)size + 1);

  (void)where;
  if (type == FTW_F) {
    ck_assert(file != NULL && content != NULL);
    ck_assert_uint_eq(fread(content, 1, (size_t)size, file), (size_t)size);
    for (; size >= 0; size -= size > 64 ? step : 1) {
      struct cpuc_frequency found;

      ck_assert_int_eq(truncate(path, size), 0);
      found = estimate();
      ck_assert_msg(is_default(&found)
        || (found.persecond >= lowest && found.persecond <= walked->highest),
        "%s of %ld bytes: %lld by %s", path, size, found.persecond, found.source);
    }
    write_bytes(path + strlen(machine_root), content, (size_t)status->st_size);
  }
  if (file)
    fclose(file);
  free(content);
  return 0;
}

TEST_LOOP(truncated_file_gives_no_wrong_estimate, MACHINES)
{
  char command[1200];

  walked = &machines[_i];
  if (is_missing(walked))
    return;
  make_machine();
  /* cp(1) needs /proc where it sets modes */
  snprintf(command, sizeof command, "tar -C '%s' --mode=u+w -cf - . | tar -C %s -xf -",
    root_of(walked), machine_root);
  ck_assert_int_eq(system(command), 0);
  ck_assert_int_eq(nftw(machine_root, truncate_in_steps, 8, FTW_PHYS), 0);
  remove_machine();
}

SUITE("machines")
