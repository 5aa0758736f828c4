/* SPDX-License-Identifier: 0BSD OR MIT */
/* Replaces sys/environment.c, sys/architecture.c, lib/frequency-system.c, lib/frequency-measure.c,
   backends/tsc/reference.c and, with machine.h, sys/root.c. Tests the frequency estimate: the first
   source that answers wins, and malformed files are ignored. The machines are directories that the
   tests make, and recorded machines. */

#include "config.h"

#include "backends/backend.h"
#include "backends/common/cpuinfo.h"
#include "lib/frequency.h"
#include "sys/architecture.h"
#include "sys/environment.h"
#include "sys/os-clock.h"

#include "tests/suites/child.h"
#include "tests/suites/counters.h"
#include "tests/suites/machine.h"

#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { EVERY_ARCHITECTURE = 0x1ff };

/* The sources that are not files. */
static struct {
  const char *variable;       /* the environment variable cpucyclespersecond, or NULL */
  unsigned int architectures; /* of enum cpuc_architecture */
  struct cpuc_rate system;
  const struct cpuc_backend *reference;
  long long measured, least_plausible;
} simulated = { .architectures = EVERY_ARCHITECTURE };

const char *cpuc_environment(const char *name)
{
  return strcmp(name, "cpucyclespersecond") == 0 ? simulated.variable : NULL;
}

#define ANSWER(type, function, answer) \
  type function(void) \
  { \
    return answer; \
  }

ANSWER(enum cpuc_architecture, cpuc_architecture, (enum cpuc_architecture)simulated.architectures)
ANSWER(struct cpuc_rate, cpuc_frequency_from_system, simulated.system)
ANSWER(const struct cpuc_backend *, cpuc_reference_counter, simulated.reference)
ANSWER(long long, cpuc_frequency_measure_core, simulated.measured)
ANSWER(long long, cpuc_frequency_least_plausible, simulated.least_plausible)

long long cpuc_frequency_least_plausible_by(long long (*read)(void), long long rate)
{
  (void)read, (void)rate;
  return 0;
}

static struct cpuc_frequency estimate(void)
{
  struct cpuc_frequency found;

  enter_guard();
  found = cpuc_frequency_estimate(0);
  leave_guard();
  return found;
}

static void expect(long long persecond, const char *source)
{
  struct cpuc_frequency found = estimate();

  ck_assert_str_eq(found.source, source);
  ck_assert_int_eq(found.persecond, persecond);
}

static void expect_default(void)
{
  expect(CPUC_FREQUENCY_DEFAULT, "default");
}

static void expect_ignored(const char *reason)
{
  struct cpuc_frequency found = estimate();

  ck_assert_str_eq(found.ignored, reason);
}

#define CPU0 "/sys/devices/system/cpu/cpu0/"

/* Advances with the OS clock, like a counter of 1.3 GHz. */
static long long read_reference(void)
{
  return (long long)((double)cpuc_os_clock_raw() * 1.3);
}

static struct cpuc_rate reported = { .hz = 1300000000 };

static struct cpuc_rate report_rate(void)
{
  return reported;
}

static struct cpuc_rate report_with_a_fault(void)
{
  return cpuc_rate_exact(suite_read(suite_forbidden_page()));
}

static struct cpuc_backend reference = {
  .kind = CPUC_KIND_REFERENCE,
  .unit = "units",
  .read = read_reference,
  .rate = report_rate,
};

#define CPUINFO "/proc/cpuinfo"
#define SETTING_FILE "/etc/cpucyclespersecond"

/* A file that is cut anywhere does not answer, except that a setting needs no newline. */
TEST(sources_answer_in_their_order)
{
  static const struct {
    const char *path, *text;
    long long hz;
    const char *source;
  } files[] = {
    { "/proc/device-tree/cpus/cpu@0/clock-frequency", "\x59\x68\x2f\x01", 1500000001,
      "/proc/device-tree" },
    { CPU0 "clock_tick", "1550000000\n", 1550000000, "clock_tick" },
    { CPU0 "acpi_cppc/nominal_freq", "1600\n", 1600000000, "acpi_cppc/nominal_freq" },
    { CPUINFO, "cpu MHz\t\t: 800.000\nmodel name\t: X @ 1.70GHz\n", 1700000000, CPUINFO },
    { CPU0 "cpufreq/base_frequency", "1800000\n", 1800000000, "cpufreq/base_frequency" },
    { CPU0 "cpufreq/cpuinfo_max_freq", "1850000\n", 1850000000, "cpufreq/cpuinfo_max_freq" },
    { CPU0 "cpufreq/scaling_max_freq", "1900000\n", 1900000000, "cpufreq/scaling_max_freq" },
    { CPU0 "cpufreq/scaling_setspeed", "<unsupported>\n", 1900000000, "cpufreq/scaling_max_freq" },
    { CPU0 "cpufreq/scaling_setspeed", "2000000\n", 2000000000, "cpufreq/scaling_setspeed" },
    { SETTING_FILE, "2100000001\n", 2100000001, SETTING_FILE },
  };
  long long hz = 1400000000;
  const char *source = "a system call";
  size_t i, length;

  expect(2399987654, "default");
  simulated.measured = 1100000000;
  expect(1100000000, "measurement");
  simulated.variable = "1234567890";
  expect(1234567890, "cpucyclespersecond");
  write_file(CPUINFO, "cpu MHz\t\t: 800.000\n");
  expect(800000000, CPUINFO);
  simulated.reference = &reference;
  expect(1300000000, "reference counter");
  reported.source = "a register";
  expect(1300000000, "a register");
  reported.source = NULL;
  simulated.system = (struct cpuc_rate) { .hz = hz, .source = source };
  expect(hz, source);
  for (i = 0; i < sizeof files / sizeof files[0]; i++) {
    for (length = 0; files[i].path[1] != 'e' && length < strlen(files[i].text); length++) {
      write_bytes(files[i].path, files[i].text, length);
      expect(hz, source);
    }
    write_file(files[i].path, files[i].text);
    hz = files[i].hz;
    source = files[i].source;
    expect(hz, source);
  }
}

static int is_constant;

static int report_constancy(const char **source)
{
  *source = "the test";
  return is_constant;
}

/* The reference counter advances by 1.3 GHz. The frequency of the idle core in /proc/cpuinfo is
   current. A busy machine can make some measurements fail. */
TEST_LOOP(rate_of_a_reference_counter_is_not_believed_against_a_measurement, 9)
{
  static const struct {
    struct cpuc_rate (*rate)(void);
    long long reported;
    int is_rounded, is_constant; /* is_constant: -1: not known */
    const char *cpuinfo;
    long long hz, error; /* of the estimate */
    const char *source;
  } rows[9] = {
    { report_rate, 1290000000, 0, 0, "", 1290000000, 0, "reference counter" },
    { report_rate, 1290000000, 1, 0, "", 1300000000, 6500000, "reference counter" },
    { report_rate, 1250000000, 0, 0, "", CPUC_FREQUENCY_DEFAULT, 0, "default" },
    { report_rate, 0, 0, 0, "", CPUC_FREQUENCY_DEFAULT, 0, "default" },
    { NULL, 0, 0, 0, "", CPUC_FREQUENCY_DEFAULT, 0, "default" },
    { report_with_a_fault, 0, 0, 0, "", CPUC_FREQUENCY_DEFAULT, 0, "default" },
    { NULL, 0, 0, 0, "cpu MHz\t\t: 800.000\n", 800000000, 0, CPUINFO },
    { NULL, 0, 0, -1, "cpu MHz\t\t: 800.000\n", 800000000, 0, CPUINFO },
    { NULL, 0, 0, 1, "cpu MHz\t\t: 800.000\n", 1300000000, 13000000, "reference counter" },
  };
  struct suite_repeat retry = suite_retry(1000);
  struct cpuc_frequency found;

  skip_where_the_clock_steps_are_long();
  simulated.reference = &reference;
  reference.rate = rows[_i].rate;
  reference.is_invariant = report_constancy;
  reported.hz = rows[_i].reported;
  reported.is_rounded = rows[_i].is_rounded;
  is_constant = rows[_i].is_constant;
  write_file(CPUINFO, rows[_i].cpuinfo);
  do
    found = estimate();
  while (llabs(found.persecond - rows[_i].hz) > rows[_i].error && suite_again(&retry));
  ck_assert_str_eq(found.source, rows[_i].source);
  ck_assert_int_le(llabs(found.persecond - rows[_i].hz), rows[_i].error);
}

/* At first, CPU 0 is off, or has no driver. */
TEST(fastest_policy_decides_and_one_cpu_of_each_is_read)
{
#define CPU(n) "/sys/devices/system/cpu/cpu" n "/cpufreq/"
#define POLICY(n) "/sys/devices/system/cpu/cpufreq/policy" n "/"
  ck_assert_int_eq(mkdir(path_of("/sys/devices/system/cpu/cpufreq/x"), 0777), 0);
  ck_assert_int_eq(rmdir(path_of("/sys/devices/system/cpu/cpufreq/x")), 0);
  expect_default(); /* the directory is empty, as in most virtual machines */
  write_file(POLICY("4") "affected_cpus", "4 5\n");
  write_file(CPU("4") "scaling_max_freq", "3000000\n");
  expect(3000000000, "cpufreq/scaling_max_freq");
  remove(path_of(POLICY("4") "affected_cpus"));
  ck_assert_int_eq(rmdir(path_of(POLICY("4") "")), 0);
  /* Linux before 4.4 lists no policies, so each CPU is read */
  write_file("/sys/devices/system/cpu/cpufreq/boost", "1\n");
  write_file("/sys/devices/system/cpu/cpuidle/current_driver", "none\n");
  write_file(CPU("0") "scaling_max_freq", "1800000\n");
  expect(3000000000, "cpufreq/scaling_max_freq");
  write_file(POLICY("0") "affected_cpus", "0 1 2 3\n");
  write_file(POLICY("4") "affected_cpus", "4 5\n");
  write_file(POLICY("12") "affected_cpus", "12\n");
  write_file(CPU("1") "scaling_max_freq", "9900000\n"); /* not read: it shares CPU 0's policy */
  write_file(CPU("12") "scaling_max_freq", "2400000\n");
  expect(3000000000, "cpufreq/scaling_max_freq");
  write_file(CPU("12") "scaling_max_freq", "3200000\n");
  expect(3200000000, "cpufreq/scaling_max_freq");
}

#ifdef HAVE_LINUX_SECCOMP_H

static int raise_sigsys(void)
{
  return call_under_filter(SECCOMP_RET_TRAP);
}

/* All calls that look for a file raise SIGSYS, but not those that open and read it. */
static int estimate_without_looks(void)
{
  static const int looks[] = {
    SYS_getdents64,
    SYS_faccessat,
#ifdef SYS_access
    SYS_access,
#endif
#ifdef SYS_stat
    SYS_stat,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
  };

  return filter_calls(looks, sizeof looks / sizeof looks[0], SECCOMP_RET_TRAP) != 0
    || estimate().persecond != 2000000000;
}

TEST(sigsys_while_looking_for_policies_hides_no_frequency)
{
  SKIP_IF(suite_under("valgrind"), "valgrind makes the system calls in its own code");
  skip_unless(raise_sigsys, -SIGSYS, "filters are missing, or raise no SIGSYS");
  write_file(CPU("0") "scaling_max_freq", "2000000\n");
  in_child_process(estimate_without_looks);
}

#endif

/* CPUs 0 to 5 are off: a directory in place of a file cannot be read. The directories are made in
   both orders, because a file system lists them in one of the two, or in any other. */
TEST_LOOP(policies_are_asked_in_the_order_of_their_numbers, 2)
{
  char path[100];
  int i;

  for (i = 0; i < 64; i++) {
    snprintf(path, sizeof path, POLICY("%d") "affected_cpus", _i ? 63 - i : i);
    write_file(path, "\n");
  }
  for (i = 0; i < 6; i++) {
    snprintf(path, sizeof path, CPU("%d") "scaling_max_freq/unreadable", i);
    write_file(path, "");
  }
  write_file(CPU("31") "cpuinfo_max_freq", "1900000\n"); /* after four CPUs without the file */
  expect_default();
  write_file(CPU("6") "scaling_max_freq", "4800000\n");
  write_file(CPU("31") "scaling_max_freq", "4900000\n");
  write_file(CPU("32") "scaling_max_freq", "9900000\n"); /* beyond the limit */
  expect(4900000000, "cpufreq/scaling_max_freq");
}

/* The two CPUs are in both orders, because the order of a directory is not known. */
TEST_LOOP(device_tree_is_searched_for_cpus, 2)
{
#define NODES "/proc/device-tree/cpus/"
  static const char *const nodes[2] = { NODES "PowerPC,POWER9@20/clock-frequency",
    NODES "PowerPC,POWER9@28/clock-frequency" };
  const char *first = nodes[_i], *last = nodes[1 - _i];

  write_bytes(NODES "timebase-frequency", "\x00\x98\x96\x80", 4);
  write_bytes(NODES "cpu-map/clock-frequency", "\x7f\x00\x00\x00", 4);
  write_bytes(NODES "l2-cache@1/clock-frequency", "\x7f\x00\x00\x00", 4);
  write_bytes(NODES "l2-cache@1/device_type", "cache", 6);
  expect_default();
  write_bytes(NODES "cpu@1/clock-frequency", "", 0);
  write_bytes(NODES "cpu@2/clock-frequency", "\x59\x68\x2f", 3);
  write_bytes(NODES "cpu@3/clock-frequency", "\x00\x00\x00\x00", 4);
  write_bytes(NODES "cpu@4/clock-frequency", "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  write_bytes(NODES "cpu@5/clock-frequency", "\0\0\0\0\x59\x68\x2f\x00\0\0\0\0\0\0\0\0\0", 17);
  expect_default();
  write_bytes(NODES "PowerPC,POWER9@20/device_type", "cpu", 4);
  write_bytes(NODES "PowerPC,POWER9@28/device_type", "cpu", 4);
  write_bytes(first, "\x59\x68\x2f\x00", 4);
  expect(1500000000, "/proc/device-tree");
  write_bytes(last, "\0\0\0\1\x2a\x05\xf2\x00", 8);
  expect(5000000000, "/proc/device-tree");
}

/* A vendor's copy of the rate of the time base, on a core of 1047 MHz. */
TEST(device_tree_is_not_believed_against_a_measurement)
{
  write_bytes(NODES "cpu@0/clock-frequency", "\x01\x7d\x78\x40", 4);
  simulated.least_plausible = 418800000;
  simulated.measured = 1047000000;
  expect(1047000000, "measurement");
  write_file(SETTING_FILE, "25000000\n");
  expect(25000000, SETTING_FILE);
  remove(path_of(SETTING_FILE));
  simulated.least_plausible = 0; /* the chain of adds shows no frequency */
  expect(25000000, "/proc/device-tree");
}

/* A file is read in pieces of less than 1200 bytes. A line that begins in one piece and ends in the
   next is read whole or, if it is too long, in no part that could be wrong. */
TEST(line_in_two_pieces_is_read_whole_or_not_at_all)
{
  static const char *const starts[] = { "cpu MHz",
    "model name : X @ 2.80GHz\ncpu MHz : 3000.000\nflags : hypervisor" };
  static const char *const ends[] = { ": 2500\n", "\nbogomips : 6000.00\n" };
  char text[1300];
  int length, i;

  simulated.architectures = CPUC_ARCHITECTURE_X86;
  for (length = 1000; length < 1200; length++)
    for (i = 0; i < 2; i++) {
      long long found;

      snprintf(text, sizeof text, "%-*s%s", length, starts[i], ends[i]);
      write_file(CPUINFO, text);
      found = estimate().persecond;
      ck_assert(i ? found == 3000000000 : found == 2500000000 || found == CPUC_FREQUENCY_DEFAULT);
    }
}

#define A(name) CPUC_ARCHITECTURE_##name

/* Lines of /proc/cpuinfo, the architectures that read them, and the frequency of the core and the
   rate of the counter in them; 0: none. */
static const struct {
  int architectures;
  const char *line;
  long long core, rate;
} cpuinfo_lines[] = {
  { A(X86), "cpu MHz\t\t: 2596.132", 2596132000, 0 },
  { A(X86) | A(IA64), "cpu MHz    : 1595.000", 1595000000, 0 },
  { A(X86) | A(PARISC), "cpu MHz\t\t: 552.000001", 552000001, 552000001 },
  { A(X86), "cpu MHz\t\t: 3.4GHz", 3400000000, 0 },
  { A(X86), "cpu MHz\t\t: 0.001", 1000, 0 },
  { A(X86), "cpu MHz\t\t: 1000000", 1000000000000, 0 },
  /* idle cores do not hide the frequency */
  { A(X86), "cpu MHz\t\t: 800.00\ncpu MHz\t\t: 3100.00\ncpu MHz\t\t: 900.00", 3100000000, 0 },
  { A(X86) | A(MIPS), "cpu MHz\t\t: 3100.00\nmodel name\t: X @ 2.80GHz", 2800000000, 0 },
  { A(X86) | A(MIPS), "model name\t: ZHAOXIN KaiXian KX-U6780A@2.7GHz", 2700000000, 0 },
  { A(X86) | A(MIPS), "model name\t: ZHAOXIN KaiXian KX-6640MA@2.2+GHz", 2200000000, 0 },
  { A(X86) | A(MIPS), "model name\t: VIA Nano X2 L4050 @ 1.4 GHz", 1400000000, 0 },
  { A(X86) | A(MIPS), "model name\t: VIA Nano U2250 (1.6GHz Capable)", 1600000000, 0 },
  { A(X86) | A(MIPS), "model name\t: Intel(R) Xeon(TM) CPU 2.80GHz", 2800000000, 0 },
  { A(X86) | A(MIPS), "model name\t: Core(TM) i5-11 CPU    M 560  @ 2.67GHz", 2670000000, 0 },
  { A(X86) | A(MIPS), "model name\t\t: Loongson-3A R4 (Loongson-3B4000) @ 1800MHz", 1800000000, 0 },
  { A(LOONGARCH) | A(MIPS), "CPU MHz\t\t\t: 2500.00", 2500000000, 0 },
  { A(MIPS), "CPU clock\t\t: 333000000 Hz", 333000000, 0 },
  { A(POWER), "clock\t\t: 3550.000000MHz", 3550000000, 0 },
  { A(POWER), "core clock\t: 198 MHz", 198000000, 0 },
  { A(POWER), "timebase\t: 512000000", 0, 512000000 },
  { A(S390), "cpu MHz static  : 5000", 5000000000, 0 },
  { A(ALPHA), "cycle frequency [Hz]\t: 462962962 est.", 462962962, 462962962 },
  { A(ALPHA), "cycle frequency [Hz]\t: 600000000 ", 600000000, 600000000 },
  { A(SPARC), "Cpu6ClkTck\t: 000000000ec82e00", 248000000, 248000000 },
  { A(SPARC), "Cpu127ClkTck\t: 00000000A6E49C00", 2800000000, 2800000000 },
  { A(SPARC), "CPU0ClkTck\t: 50000000", 50000000, 50000000 },
  { A(IA64), "itc MHz    : 399.937500", 0, 399937500 },
};

/* Lines from which no architecture takes a frequency. */
static const char *const other_lines[] = { "cpu MHz dynamic : 5000", "BogoMIPS\t: 1694.10",
  "bogomips per cpu: 14367.00", "Clocking:\t24.8MHz", "bus clock\t: 100 MHz",
  "timer frequency [Hz]\t: 1024.00", "cpu MHz\t\t: 2596,132", "cpu MHz\t\t: -2596.132",
  "cpu MHz\t\t: Unknown", "cpu MHz\t\t: nan", "cpu MHz\t\t: 1e300", "cpu MHz\t\t: 0.000",
  "cpu MHz\t\t: 0.000999", "cpu MHz\t\t: 1000000.000001", "cpu MHz\t\t: .552000",
  "cpu MHz\t\t: 99999999999999999999999999999999", "cpu MHz\t\t: 2500.", "cpu MHz",
  "clock\t\t: 3550", "clock\t\t: ???", "timebase\t: 999", "timebase\t: 1000000000001",
  "timebase\t: 18446744074221551616" /* 2^64 + 512000000 */, "timebase\t: ",
  "cycle frequency [Hz]\t:  est.", " est.", "Cpu6ClkTck\t: 0000000000ec82e00",
  "Cpu6ClkTck\t: 000000000ec82e0g", "Cpu6ClkTck\t: ffffffffffffffff", "Cpu6ClkTck\t: ",
  "CpuClkTck\t: 000000000ec82e00", "CpuXClkTck\t: 000000000ec82e00", "Cpu6Bogo\t: 494.43", "Cpu",
  "model name\t: AMD EPYC", "model name\t: Riddle @ GHz", "model name\t: Riddle @ 2.80",
  "model name\t: Riddle @ 2.1.0GHz", "model name\t: Riddle @ .10GHz",
  "model name\t: Genuine Intel(R) CPU @ 0.000GHz", "model name\t: X2.80GHz",
  "model name\t: X 2.80GHzs", "model name\t: X 2.80G", ":", "" };

/* Reads a line on each architecture. On x86, no line contains the rate of a counter. */
static void expect_line(const char *line, int architectures, long long core, long long rate)
{
  char file[200];

  snprintf(file, sizeof file, "processor\t: 0\n\n%s\n\nlast line\t: 1\n", line);
  write_file(CPUINFO, file);
  for (simulated.architectures = 1; simulated.architectures <= EVERY_ARCHITECTURE;
       simulated.architectures *= 2) {
    int is_read = (simulated.architectures & (unsigned int)architectures) != 0;
    int has_rate = is_read && simulated.architectures != A(X86);

    ck_assert_msg(cpuc_cpuinfo_rate().hz == (has_rate ? rate : 0), "%s", line);
    expect(is_read && core ? core : CPUC_FREQUENCY_DEFAULT, is_read && core ? CPUINFO : "default");
  }
}

TEST(line_of_cpuinfo_is_read_on_its_own_architecture)
{
  size_t i;

  for (i = 0; i < sizeof cpuinfo_lines / sizeof cpuinfo_lines[0]; i++)
    expect_line(cpuinfo_lines[i].line, cpuinfo_lines[i].architectures, cpuinfo_lines[i].core,
      cpuinfo_lines[i].rate);
  for (i = 0; i < sizeof other_lines / sizeof other_lines[0]; i++)
    expect_line(other_lines[i], 0, 0, 0);
  simulated.architectures = CPUC_ARCHITECTURE_X86;
  write_bytes(CPUINFO, "cpu MHz\t\t: 25\0" "00\n", 17);
  expect_default();
  simulated.architectures = CPUC_ARCHITECTURE_OTHER;
  write_file(CPUINFO, "model name\t: X @ 2.80GHz\n");
  expect_default();
  /* sysfs describes the real CPU, whatever machine an emulator imitates */
  write_file(CPU0 "cpufreq/scaling_max_freq", "3700000\n");
  expect(3700000000, "cpufreq/scaling_max_freq");
}

/* Whether a line of /proc/cpuinfo is a constant frequency, which precedes a system call, or a
   current one, which follows it. */
static const struct {
  int architectures;
  const char *text;
  long long hz; /* 0: the lines are current, or contain no frequency */
  const char *file; /* another file, or NULL */
} roles[] = {
#define MHZ_OF_GUEST "cpu MHz : 2694.293\nflags : fpu aperfmperf hypervisor lahf_lm\n"
  /* the TSC of a guest, whatever CPU its name imitates; the kernel rounds both numbers down */
  { A(X86), "model name : X @ 1.87GHz\n" MHZ_OF_GUEST "bogomips : 5388.58\n", 2694293000, NULL },
  { A(X86), "model name : X @ 2.90GHz\n" MHZ_OF_GUEST "bogomips : 5388.58\n", 2694293000, NULL },
  { A(X86), MHZ_OF_GUEST "bogomips : 5393.90\n", 2694293000, NULL },
  { A(X86), MHZ_OF_GUEST "bogomips : 5394.10\n", 0, NULL },
  /* a guest with APERF */
  { A(X86), MHZ_OF_GUEST "bogomips : 5090.00\n", 0, NULL },
  { A(X86), "model name : X @ 1.87GHz\n" MHZ_OF_GUEST "bogomips : 5090.00\n", 1870000000, NULL },
  { A(X86), MHZ_OF_GUEST, 0, NULL },
  { A(X86), MHZ_OF_GUEST "bogomips : 0.00\n", 0, NULL },
  /* only the first CPU is compared */
  { A(X86), MHZ_OF_GUEST "bogomips : 5090.00\n\n" MHZ_OF_GUEST "bogomips : 5388.58\n", 0, NULL },
  { A(X86), MHZ_OF_GUEST "bogomips : 5388.58\n\ncpu MHz : 3000.000\n", 2694293000, NULL },
  /* no guest */
  { A(X86), "cpu MHz : 2694.293\nflags : fpu lahf_lm\nbogomips : 5388.58\n", 0, NULL },
  { A(X86), "cpu MHz : 800.0\nflags : fpu\nmodel name : X @ 1.87GHz\n", 1870000000, NULL },
#define CLOCK "clock\t\t: 2000.000000MHz\n"
  { A(POWER), CLOCK "timebase\t: 512000000\nplatform\t: pSeries\n", 2000000000, NULL },
  { A(POWER), CLOCK "timebase\t: 512000000\nplatform\t: PowerNV\n", 0, NULL },
  { A(POWER), CLOCK "timebase\t: 24967326\nplatform\t: PowerMac\n", 2000000000, NULL },
  { A(POWER), CLOCK "timebase\t: 24967326\nplatform\t: PowerMac\n", 0,
    CPU0 "cpufreq/scaling_governor" },
};

TEST_LOOP(role_of_a_line_depends_on_the_machine, sizeof roles / sizeof roles[0])
{
  simulated.architectures = (unsigned int)roles[_i].architectures;
  simulated.system = (struct cpuc_rate) { .hz = 1400000000, .source = "a system call" };
  write_file(CPUINFO, roles[_i].text);
  if (roles[_i].file)
    write_file(roles[_i].file, "");
  if (roles[_i].hz) {
    expect(roles[_i].hz, CPUINFO);
    return;
  }
  expect(1400000000, "a system call");
  simulated.system.hz = 0;
  ck_assert_int_ge(estimate().persecond, 2000000000);
  ck_assert_str_eq(estimate().source, CPUINFO);
}

TEST(long_cpuinfo_is_read_in_part)
{
  FILE *file;
  int i;

  file = fopen(path_of(CPUINFO), "w");
  ck_assert_ptr_nonnull(file);
  for (i = 0; i < 1024; i++)
    fprintf(file, "processor\t: %d\ncpu MHz\t\t: %d.000\nflags\t\t: aperfmperf%2290s\n", i,
      1000 + i, "flag");
  fclose(file);
  i = (int)(estimate().persecond / 1000000);
  ck_assert_int_ge(i, 1010); /* more than a few CPUs */
  ck_assert_int_le(i, 1016); /* but not many: 32 KiB of 2.4 MB */
}

/* Settings by an administrator or a user that are not valid frequencies, and why. */
static const struct {
  const char *why, *texts[14];
} junk[] = {
  { "is empty", { "", " \n" } },
  { "is not a decimal number",
    { "fast\n", "-5\n", "nan\n", "inf", "1e300\n", "2400000000x\n", "2400000000 2400000000\n",
      "0x8f0d1800\n", "2,4\n", "2400000000,5\n", "2400000000.\n", ".5\n", "+2400000000\n" } },
  { "is below 1000 or above 1000000000000",
    { "0\n", "999\n", "1000000000001\n", "99999999999999999999999999.5\n" } },
};

/* Expects that a setting is ignored, for this reason. Removes the file. */
static void expect_ignored_setting(const char *setting, const char *why)
{
  char reason[100];

  snprintf(reason, sizeof reason, "%s %s", setting, why);
  expect_default();
  expect_ignored(reason);
  remove(path_of(SETTING_FILE));
}

TEST_LOOP(malformed_setting_is_ignored, sizeof junk / sizeof junk[0])
{
  static char longest[1 << 20];
  int i;

  for (i = 0; junk[_i].texts[i]; i++) {
    simulated.variable = junk[_i].texts[i];
    expect_ignored_setting("cpucyclespersecond", junk[_i].why);
    simulated.variable = NULL;
    write_file(SETTING_FILE, junk[_i].texts[i]);
    expect_ignored_setting(SETTING_FILE, junk[_i].why);
  }
  memset(longest, '\377', sizeof longest - 1);
  simulated.variable = longest;
  expect_ignored("cpucyclespersecond is not a decimal number");
  write_bytes(SETTING_FILE, "2400000000\0", 11);
  expect_ignored(SETTING_FILE " is not a text file; cpucyclespersecond is not a decimal number");
  write_file(SETTING_FILE, "2400000000.7 \r\n");
  expect(2400000000, SETTING_FILE);
  write_file(SETTING_FILE, " 2400000000"); /* a missing newline is accepted */
  expect(2400000000, SETTING_FILE);
  expect_ignored("cpucyclespersecond is not a decimal number");
  simulated.variable = "2400000000";
  expect_ignored("cpucyclespersecond is not needed: an earlier source has a frequency");
  simulated.variable = NULL;
  expect_ignored("");
}

/* No estimate waits for the writer of a FIFO. */
TEST(setting_in_an_irregular_file_is_ignored)
{
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int file;

  ck_assert_int_eq(mkdir(path_of(SETTING_FILE), 0777), 0);
  expect_ignored_setting(SETTING_FILE, "cannot be read");
  ck_assert_int_eq(mkfifo(path_of(SETTING_FILE), 0666), 0);
  expect_ignored_setting(SETTING_FILE, "is empty");
  ck_assert_int_eq(mkfifo(path_of(SETTING_FILE), 0666), 0);
  file = open(path_of(SETTING_FILE), O_RDWR); /* a FIFO that can still be written */
  ck_assert_int_ge(file, 0);
  expect_ignored_setting(SETTING_FILE, "cannot be read");
  close(file);
  ck_assert_int_eq(symlink("/dev/zero", path_of(SETTING_FILE)), 0);
  expect_ignored_setting(SETTING_FILE, "is too long for a number");
  strcpy(address.sun_path, path_of(SETTING_FILE));
  file = socket(AF_UNIX, SOCK_STREAM, 0);
  ck_assert_int_eq(bind(file, (struct sockaddr *)&address, sizeof address), 0);
  expect_ignored_setting(SETTING_FILE, "cannot be read");
  close(file);
  ck_assert_int_eq(symlink("cpucyclespersecond", path_of(SETTING_FILE)), 0);
  expect_ignored_setting(SETTING_FILE, "cannot be read");
}

/* musl accepts any name of a locale, but keeps the point. */
TEST(decimal_comma_of_the_locale_is_ignored)
{
  if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    setlocale(LC_ALL, "fr_FR.UTF-8");
  SKIP_IF(*localeconv()->decimal_point != ',', "no locale with a decimal comma is installed");
  write_file(CPUINFO, "cpu MHz\t\t: 2596.132\n");
  expect(2596132000, CPUINFO);
}

/* Recorded machines. */

#define HERE "tests/machines/"

/* Limits of 0: no source answers. */
static const struct {
  const char *name;
  long long lowest, highest;
} machines[] = {
  { "armv7", 1700000000, 1700000000 },
  { "arm-A510-A710-A715-X3", 0, 0 },
  { "loongarch-loongson_3a5000_hv", 2500000000, 2500000000 },
  { "ppc64-POWER7", 3000000000, 3000000000 },
  { "ppc-qemu", 266000000, 266000000 },
  { "rv64-visionfive2", 0, 0 },
  { "s390-lpar-drawer", 5000000000, 5000000000 },
  { "s390-kvm", 0, 0 },
  { "sparc64", 248000000, 248000000 },
  { "vbox-win", 1700000000, 3800000000 },
  { "x86_64-64cpu-linux6.2", 2800000000, 4700000000 },
  { "x86_64-dell_e4310", 2600000000, 3200000000 },
  { HERE "big-little", 3000000000, 3000000000 },
  { HERE "idle-cores", 2100000000, 2100000000 },
  { HERE "model-without-frequency", 2245780000, 2245780000 },
};

/* The estimate is the default if no source answers. The recorded machines are not part of the
   project. tests/machines has further machines, written by hand. */
TEST_LOOP(estimate_is_within_the_limits_of_each_machine,
  sizeof machines / sizeof machines[0])
{
  const char *name = machines[_i].name, *srcdir = getenv("srcdir");
  const char *recorded = getenv("CPUCYCLES_MACHINES"); /* default: beside the sources */
  int is_here = strncmp(name, HERE, strlen(HERE)) == 0;
  struct cpuc_frequency found;
  char root[1024];

  srcdir = srcdir ? srcdir : ".";
  snprintf(root, sizeof root, "%s%s/%s", is_here || !recorded ? srcdir : recorded,
    is_here || recorded ? "" : "/../shared/machines", name);
  SKIP_IF(!is_here && access(root, R_OK) != 0,
    "(%s) there is no recorded machine %s; CPUCYCLES_MACHINES names the directory", name, root);
  files_root = root;
  found = estimate();
  ck_assert_msg(strcmp(found.source, "default") == 0 ? machines[_i].lowest == 0
      : found.persecond >= machines[_i].lowest && found.persecond <= machines[_i].highest,
    "%s: %lld from %s", name, found.persecond, found.source);
}

SUITE_AROUND("frequency", make_machine, remove_machine)
