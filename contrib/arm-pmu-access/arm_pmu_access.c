// SPDX-License-Identifier: GPL-2.0-only
/*
 * arm_pmu_access: lets every program read the cycle counter of its current CPU, on armv7 and
 * arm64, as long as the module is loaded. README describes the risks.
 *
 * On each CPU, also on a CPU that comes online later: the counter runs (PMCR.E, PMCNTENSET),
 * counts every cycle in user and kernel mode (PMCR.D and .DP clear, PMCCFILTR), and user mode may
 * read it (PMUSERENR). After an idle state that resets the registers, the module writes them
 * again. When the module is unloaded, or the CPU goes offline, the module restores the old value
 * of each register.
 *
 * The kernel's perf driver uses the same registers, and has no lock for the module to take. The
 * module leaves the cycle counter to perf while perf counts with it, restores PMUSERENR and
 * PMCCFILTR only if perf has not changed them since, and leaves PMCR.E set while perf counts.
 *
 * Source: Arm Architecture Reference Manual for A-profile (DDI 0487), "The Performance Monitors
 * Extension"; for ARMv7-A and ARMv7-R (DDI 0406C), chapter C12.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cpu_pm.h>
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/types.h>

#define CYCLE_COUNTER BIT(31)	/* its bit in PMCNTENSET, PMCNTENCLR, PMINTENSET */

#define PMCR_E BIT(0)	/* counters run */
#define PMCR_D BIT(3)	/* one count per 64 cycles */
#define PMCR_DP BIT(5)	/* the counter stops while event counting is prohibited */
#define PMCR_LC BIT(6)	/* 64 bits wide, not 32; since PMUv3 */

#define PMUSERENR_EN BIT(0)	/* user mode may use all registers of the PMU */
#define PMUSERENR_CR BIT(2)	/* user mode may read the cycle counter; since PMUv3 */

#ifdef CONFIG_ARM64

#include <asm/sysreg.h>
#include <asm/virt.h>

#define PMCCFILTR_NSH BIT(27)	/* count at EL2 */

static unsigned int pmu_version(void)
{
	return (read_sysreg(id_aa64dfr0_el1) >> 8) & 0xf;	/* PMUVer */
}

/* Every PMU of arm64 is a PMUv3 or later. */
static bool has_pmuv3(void)
{
	return true;
}

/* Counts user mode and the kernel, also if the kernel runs at EL2. Excludes a hypervisor at EL2. */
static unsigned long wanted_filter(void)
{
	return is_kernel_in_hyp_mode() ? PMCCFILTR_NSH : 0;
}

static unsigned long read_pmcr(void)
{
	return read_sysreg(pmcr_el0);
}

static void write_pmcr(unsigned long value)
{
	write_sysreg(value, pmcr_el0);
}

static unsigned long read_enabled_counters(void)
{
	return read_sysreg(pmcntenset_el0);
}

static void enable_counter(void)
{
	write_sysreg(CYCLE_COUNTER, pmcntenset_el0);
}

static void disable_counter(void)
{
	write_sysreg(CYCLE_COUNTER, pmcntenclr_el0);
}

static unsigned long read_enabled_interrupts(void)
{
	return read_sysreg(pmintenset_el1);
}

static unsigned long read_pmuserenr(void)
{
	return read_sysreg(pmuserenr_el0);
}

static void write_pmuserenr(unsigned long value)
{
	write_sysreg(value, pmuserenr_el0);
}

static unsigned long read_filter(void)
{
	return read_sysreg(pmccfiltr_el0);
}

static void write_filter(unsigned long value)
{
	write_sysreg(value, pmccfiltr_el0);
}

static u64 read_cycles(void)
{
	return read_sysreg(pmccntr_el0);
}

static void write_cycles(u64 value)
{
	write_sysreg(value, pmccntr_el0);
}

#elif defined(CONFIG_CPU_V7)

#include <asm/barrier.h>
#include <asm/cputype.h>

#define READ_CP15(register) ({						\
	u32 value;							\
	asm volatile("mrc p15, 0, %0, " register : "=r" (value));	\
	value;								\
})

#define WRITE_CP15(register, value)					\
	asm volatile("mcr p15, 0, %0, " register : : "r" ((u32)(value)))

#define PMCR "c9, c12, 0"
#define PMCNTENSET "c9, c12, 1"
#define PMCNTENCLR "c9, c12, 2"
#define PMSELR "c9, c12, 5"
#define PMCCNTR "c9, c13, 0"
#define PMXEVTYPER "c9, c13, 1"
#define PMUSERENR "c9, c14, 0"
#define PMINTENSET "c9, c14, 1"

static unsigned int pmu_version(void)
{
	return (read_cpuid_ext(CPUID_EXT_DFR0) >> 24) & 0xf;	/* PerfMon */
}

static bool has_pmuv3(void)
{
	return pmu_version() >= 3;
}

static unsigned long wanted_filter(void)
{
	return 0;
}

static unsigned long read_pmcr(void)
{
	return READ_CP15(PMCR);
}

static void write_pmcr(unsigned long value)
{
	WRITE_CP15(PMCR, value);
}

static unsigned long read_enabled_counters(void)
{
	return READ_CP15(PMCNTENSET);
}

static void enable_counter(void)
{
	WRITE_CP15(PMCNTENSET, CYCLE_COUNTER);
}

static void disable_counter(void)
{
	WRITE_CP15(PMCNTENCLR, CYCLE_COUNTER);
}

static unsigned long read_enabled_interrupts(void)
{
	return READ_CP15(PMINTENSET);
}

static unsigned long read_pmuserenr(void)
{
	return READ_CP15(PMUSERENR);
}

static void write_pmuserenr(unsigned long value)
{
	WRITE_CP15(PMUSERENR, value);
}

/* PMUv2 has PMCCFILTR only as PMXEVTYPER with PMSELR = 31, and PMUv1 has no filter. */
static u32 select_filter(void)
{
	u32 previous = READ_CP15(PMSELR);

	WRITE_CP15(PMSELR, 31);
	isb();
	return previous;
}

static void restore_selection(u32 previous)
{
	WRITE_CP15(PMSELR, previous);
	isb();
}

static unsigned long read_filter(void)
{
	u32 previous, value;

	if (pmu_version() < 2)
		return 0;
	previous = select_filter();
	value = READ_CP15(PMXEVTYPER);
	restore_selection(previous);
	return value;
}

static void write_filter(unsigned long value)
{
	u32 previous;

	if (pmu_version() < 2)
		return;
	previous = select_filter();
	WRITE_CP15(PMXEVTYPER, value);
	restore_selection(previous);
}

static u64 read_cycles(void)
{
	return READ_CP15(PMCCNTR);
}

static void write_cycles(u64 value)
{
	WRITE_CP15(PMCCNTR, value);
}

#else
#error this module is for arm64 and ARMv7
#endif

/* PMUVer or PerfMon is 0 without a PMU, and 15 with a PMU of another architecture. */
static bool has_pmu(void)
{
	return pmu_version() != 0 && pmu_version() != 0xf;
}

/* The bits of PMCR that the module writes. Some other bits are commands. */
static unsigned long pmcr_mask(void)
{
	return PMCR_E | PMCR_D | PMCR_DP | (has_pmuv3() ? PMCR_LC : 0);
}

/* Before PMUv3 there is only the permission for all registers. */
static unsigned long wanted_access(void)
{
	return has_pmuv3() ? PMUSERENR_CR : PMUSERENR_EN;
}

/* The registers of a CPU, as found and as written. */
struct state {
	bool open;
	unsigned long pmcr, enabled, access, filter;	/* as found */
	unsigned long our_access, our_filter;		/* read back after the write */
	u64 cycles;					/* count at entry to idle */
};

static DEFINE_PER_CPU(struct state, states);
static atomic_t cpus_with_pmu = ATOMIC_INIT(0);

/* perf enables the interrupt of each counter that it uses. */
static bool perf_has_cycle_counter(void)
{
	return read_enabled_interrupts() & CYCLE_COUNTER;
}

static bool perf_counts(void)
{
	return read_enabled_interrupts() != 0;
}

static void write_pmcr_bits(unsigned long bits)
{
	write_pmcr((read_pmcr() & ~pmcr_mask()) | (bits & pmcr_mask()));
}

/* save(), open_counter() and restore_registers() run with interrupts off. */

static void save(struct state *state)
{
	state->pmcr = read_pmcr();
	state->enabled = read_enabled_counters();
	state->access = read_pmuserenr();
	state->filter = state->our_filter = read_filter();
}

/* Starts the counter, unless perf counts with it, and then permits programs to read it. */
static void open_counter(struct state *state)
{
	if (!perf_has_cycle_counter()) {
		write_filter(wanted_filter());
		write_pmcr_bits(PMCR_E | PMCR_LC);
		enable_counter();
		isb();
		state->our_filter = read_filter();
	}
	write_pmuserenr(wanted_access() | read_pmuserenr());
	isb();
	state->our_access = read_pmuserenr();
}

/* Undoes open_counter(). Withdraws the access first, so that no program sees a stopped counter. */
static void restore_registers(struct state *state)
{
	if (read_pmuserenr() == state->our_access)
		write_pmuserenr(state->access);
	isb();
	if (!perf_has_cycle_counter()) {
		if (!(state->enabled & CYCLE_COUNTER))
			disable_counter();
		if (read_filter() == state->our_filter)
			write_filter(state->filter);
		if (perf_counts()) /* with other counters, which a cleared E would stop */
			write_pmcr_bits(state->pmcr | PMCR_E);
		else
			write_pmcr_bits(state->pmcr);
	}
	isb();
}

/* CPU hotplug callback: runs on `cpu`, in the hotplug thread of this CPU. */
static int cpu_came_online(unsigned int cpu)
{
	struct state *state = per_cpu_ptr(&states, cpu);
	unsigned long flags;

	if (!has_pmu())
		return 0;
	atomic_inc(&cpus_with_pmu);
	local_irq_save(flags);
	save(state);
	open_counter(state);
	state->open = true;
	local_irq_restore(flags);
	return 0;
}

static int cpu_goes_offline(unsigned int cpu)
{
	struct state *state = per_cpu_ptr(&states, cpu);
	unsigned long flags;

	if (!state->open)
		return 0;
	local_irq_save(flags);
	state->open = false;
	restore_registers(state);
	local_irq_restore(flags);
	return 0;
}

/*
 * An idle state may have reset the PMU, and perf resets it in any case. If the count is lower than
 * at entry to idle, the counter continues from its count at entry, so that it does not step back.
 */
static void wake(struct state *state)
{
	if (!perf_has_cycle_counter() && read_cycles() < state->cycles)
		write_cycles(state->cycles);
	open_counter(state);
}

/* CPU power notifier: runs on the CPU whose power state changes, with interrupts off. */
static int idle_notified(struct notifier_block *block, unsigned long action, void *unused)
{
	struct state *state = this_cpu_ptr(&states);

	if (!state->open)
		return NOTIFY_DONE;
	switch (action) {
	case CPU_PM_ENTER:
		state->cycles = read_cycles();
		return NOTIFY_OK;
	case CPU_PM_ENTER_FAILED:
	case CPU_PM_EXIT:
		wake(state);
		return NOTIFY_OK;
	default:
		return NOTIFY_DONE;
	}
}

/* Runs after perf's notifier, which has priority 0. */
static struct notifier_block idle_notifier = {
	.notifier_call = idle_notified,
	.priority = -1,
};

static int hotplug_state;

static int __init arm_pmu_access_init(void)
{
	int result = cpu_pm_register_notifier(&idle_notifier);

	if (result)
		return result;
	hotplug_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, KBUILD_MODNAME ":online",
					  cpu_came_online, cpu_goes_offline);
	if (hotplug_state < 0) {
		result = hotplug_state;
		goto unregister;
	}
	if (atomic_read(&cpus_with_pmu) == 0) {
		pr_err("no CPU has a PMU of this architecture\n");
		result = -ENODEV;
		goto remove;
	}
	pr_info("every program may read the cycle counter\n");
	return 0;
remove:
	cpuhp_remove_state(hotplug_state);
unregister:
	cpu_pm_unregister_notifier(&idle_notifier);
	return result;
}

static void __exit arm_pmu_access_exit(void)
{
	cpuhp_remove_state(hotplug_state);
	cpu_pm_unregister_notifier(&idle_notifier);
	pr_info("access to the cycle counter is as it was\n");
}

module_init(arm_pmu_access_init);
module_exit(arm_pmu_access_exit);

MODULE_DESCRIPTION("User-mode access to the cycle counter of Arm CPUs");
MODULE_VERSION("1.0");
MODULE_LICENSE("GPL");
