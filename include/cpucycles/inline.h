/* SPDX-License-Identifier: 0BSD OR MIT */
/* The cycle count without a call: cpucycles_inline() returns the count of cpucycles(), and executes
   the instruction of the selected counter in place if a constant below stands for the instruction.
   For C99 and C++11. Compilers that cannot inline these functions, and those without GNU
   extensions, call the copies in the library. Includes cpucycles.h only. No other installed header
   contains instructions or fences of CPUs. No function fails, and all are thread-safe, including
   the first call. Full text: cpucycles(3), Inline reads. */

#ifndef LIBCPUCYCLES_INLINE_H
#define LIBCPUCYCLES_INLINE_H

#include "../cpucycles.h"

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif
#pragma GCC visibility push(default)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Instructions that read a counter. Later versions may append constants, but never change one. A
   program calls cpucycles() for a method that it does not know. */
enum {
  CPUCYCLES_INLINE_CALL = 0, /* no instruction, or no counter is selected yet: call cpucycles() */
  CPUCYCLES_INLINE_TSC = 1,             /* x86: the time-stamp counter */
  CPUCYCLES_INLINE_FIXED_COUNTER_1 = 2, /* x86-64: RDPMC (amd64-pmcff) */
  CPUCYCLES_INLINE_APERF = 3,           /* x86-64: RDPRU of APERF */
  CPUCYCLES_INLINE_CNTVCT = 4,          /* Arm: the virtual system counter */
  CPUCYCLES_INLINE_PMCCNTR = 5,         /* arm64: the PMU's cycle counter */
  CPUCYCLES_INLINE_TIME_BASE = 6,       /* PowerPC */
  CPUCYCLES_INLINE_CYCLE = 7,           /* RISC-V: the cycle CSR */
  CPUCYCLES_INLINE_TIME = 8,            /* RISC-V: the time CSR */
  CPUCYCLES_INLINE_TOD = 9,             /* s390x: the time-of-day clock, counted from 2000 */
  CPUCYCLES_INLINE_TICK = 10,           /* SPARC V9 */
  CPUCYCLES_INLINE_STABLE_COUNTER = 11, /* LoongArch */
  CPUCYCLES_INLINE_SCALED = 0x10000     /* added if the count must be multiplied */
};

/* State that cpucycles_inline() reads. Programs must not write it. Its layout never changes; a new
   layout would get a new name. */
struct cpucycles_inline_state {
  unsigned int method;           /* a constant above; written at most once, and last */
  int shift;                     /* if scaled: 1..63; otherwise 0 */
  unsigned long long multiplier; /* if scaled: cycles are count * multiplier / 2^shift */
};

/* Since: 20261121. */
#if defined(_MSC_VER) && !defined(CPUCYCLES_STATIC)
__declspec(dllimport)
#endif
extern struct cpucycles_inline_state cpucycles_inline_state;

/* Reads the cycle count, in place if a constant above stands for the selected counter.
   Returns: the count of cpucycles(), in cycles.
   Calls cpucycles() if no counter is selected yet, if no constant stands for the selected one, or
   if the program is compiled for CPUs without its instruction.
   Since: 20261121. */
extern long long cpucycles_inline(void);

/* A fence, which also keeps the compiler from moving accesses to memory across it. The code before
   the fence is executed before the code after it, as far as the CPU guarantees this: the manual
   lists the instruction of each CPU, and what it orders. cpucycles_section_begin() reads the count
   between two of these fences. With one fence before cpucycles_inline(), the code before is
   complete when the counter is read; with one fence after it, the code after begins when the
   counter has been read.
   Since: 20261121.  Source: cpucycles-internals(7), FENCES. */
extern void cpucycles_inline_fence(void);

/* The beginning and the end of a timed section, like cpucycles_section_begin() and
   cpucycles_section_end(), without the call.
   Returns: the count of cpucycles(), in cycles. The section takes
     end - begin - cpucycles_inline_section_overhead() cycles.
   Since: 20261121. */
extern long long cpucycles_inline_section_begin(void);
extern long long cpucycles_inline_section_end(void);

/* The overhead of timing a section with cpucycles_inline_section_begin() and
   cpucycles_inline_section_end(). Every call measures it again, with 1000 empty sections, so call
   it once and store the result.
   Returns: the smallest end - begin of these sections, in cycles; 0 if all are negative.
   Since: 20261121. */
extern long long cpucycles_inline_section_overhead(void);

#ifdef __GNUC__

/* A call that is not inlined calls the copy in the library. Helpers have no copy there, so they are
   always inlined. */
#define CPUCYCLES_INLINE_HELPER \
  extern __inline__ __attribute__((__gnu_inline__, __always_inline__, __no_instrument_function__))
#ifdef CPUCYCLES_INLINE_COPY_ATTRIBUTE /* only in the library, which then contains the copies */
#define CPUCYCLES_INLINE_FUNCTION CPUCYCLES_INLINE_COPY_ATTRIBUTE
#else
#define CPUCYCLES_INLINE_FUNCTION \
  extern __inline__ __attribute__((__gnu_inline__, __no_instrument_function__))
#endif

/* Scales a count to cycles: count * multiplier / 2^shift, rounded down, modulo 2^64, for shift
   1..63. `count` may be negative: the count of the wall clock is about 0 when the library opens
   this clock, and below 0 after the clock was set to an earlier time. The portable form is for
   compilers without a 128-bit type. */
CPUCYCLES_INLINE_HELPER long long cpucycles_inline_scale_portable(long long count,
  unsigned long long multiplier, int shift)
{
  unsigned long long high = (unsigned long long)(count >> 32);
  unsigned long long low = (unsigned long long)count & 0xffffffff;
  unsigned long long multiplier_high = multiplier >> 32;
  unsigned long long multiplier_low = multiplier & 0xffffffff;
  unsigned long long lowest = low * multiplier_low;
  unsigned long long middle = high * multiplier_low + (lowest >> 32);
  unsigned long long middle_sum = low * multiplier_high + (middle & 0xffffffff);

  high = high * multiplier_high + (unsigned long long)((long long)middle >> 32)
    + (middle_sum >> 32);
  low = (middle_sum << 32) | (lowest & 0xffffffff);
  return (long long)((high << (64 - shift)) | (low >> shift));
}

/* Clang inlines a multiplication of _BitInt, and compiles it on the CPUs below without a call of a
   library function. */
#if defined(__SIZEOF_INT128__)
#define CPUCYCLES_INLINE_WIDE __int128
#elif defined(__clang__) && defined(__BITINT_MAXWIDTH__) \
  && (defined(__arm__) || defined(__powerpc__) || defined(__riscv))
#define CPUCYCLES_INLINE_WIDE _BitInt(128)
#endif

CPUCYCLES_INLINE_HELPER long long cpucycles_inline_scale(long long count,
  unsigned long long multiplier, int shift)
{
#ifdef CPUCYCLES_INLINE_WIDE
  __extension__ typedef CPUCYCLES_INLINE_WIDE wide;
  wide product = (wide)count * (wide)multiplier;
  unsigned long long right = (unsigned int)shift;

  /* product >> shift would take longer, because it also works if shift is 64 or more */
  return (long long)((unsigned long long)(product >> 64) << (64 - right)
    | (unsigned long long)product >> right);
#else
  return cpucycles_inline_scale_portable(count, multiplier, shift);
#endif
}

/* One block per CPU:
   - One function per instruction. The backends with inline forms call these functions, except
     amd64-tsc and x86-tsc, which call __rdtsc(). The comments in the files of the backends name the
     manuals.
   - CPUCYCLES_INLINE_CASES, which calls the function for `method`, unless the program is compiled
     for CPUs without the instruction.
   - CPUCYCLES_INLINE_FENCE, the instruction of cpucycles_inline_fence() and its operands: if the
     manual of the CPU names several, one that does not leave user mode or the virtual machine,
     unlike CPUID. */

/* One case of `method`. What follows the last case is executed for all other methods. */
#define CPUCYCLES_INLINE_CASE(condition, function) \
  if (condition) \
    *count = function(); \
  else

#if defined(__x86_64__) || defined(__i386__)

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_tsc(void)
{
  unsigned int low, high;

  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return ((unsigned long long)high << 32) | low;
}

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_fixed_counter_1(void)
{
  unsigned int low, high;

  __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(0x40000001));
  return ((unsigned long long)high << 32) | low;
}

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_aperf(void)
{
  unsigned int low, high;

  /* RDPRU, encoded by hand for assemblers that do not know it */
  __asm__ volatile(".byte 0x0f,0x01,0xfd" : "=a"(low), "=d"(high) : "c"(1));
  return ((unsigned long long)high << 32) | low;
}

#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(__builtin_expect(method == CPUCYCLES_INLINE_TSC, 1), cpucycles_inline_tsc) \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_FIXED_COUNTER_1, \
    cpucycles_inline_fixed_counter_1) \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_APERF, cpucycles_inline_aperf)

#if defined(__x86_64__) || defined(__SSE2__)
/* LFENCE waits until all instructions before it have completed, and no instruction after it begins
   until it has completed: Intel SDM volume 2A, LFENCE. On CPUs of AMD, LFENCE must be dispatch
   serializing, which Linux enables: AMD, "Software Techniques for Managing Speculation on AMD
   Processors", MSR C001_1029[1]; Linux, arch/x86/kernel/cpu/amd.c. */
#define CPUCYCLES_INLINE_FENCE "lfence" : :
#else
/* Programs for CPUs without SSE2 have no LFENCE. Apart from CPUID, IRET is the serializing
   instruction of user mode: Intel SDM volume 3A, "Serializing Instructions". The operand makes the
   function have a frame pointer, with which debuggers and profilers unwind the stack while the
   instructions here change the stack pointer. */
#define CPUCYCLES_INLINE_FENCE \
  "pushfl\n\tpushl %%cs\n\tcall 1f\n\tjmp 2f\n1:\tiret\n2:" : : "r"(__builtin_frame_address(0))
#endif

#elif defined(__aarch64__)

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_cntvct(void)
{
  unsigned long long count;

  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_pmccntr(void)
{
  unsigned long long count;

  __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
  return count;
}

#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_CNTVCT, cpucycles_inline_cntvct) \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_PMCCNTR, cpucycles_inline_pmccntr)

/* Instructions after ISB are fetched after it has completed: Arm Architecture Reference Manual for
   A-profile (DDI 0487), section B2, "Instruction Synchronization Barrier". */
#define CPUCYCLES_INLINE_FENCE "isb" : :

#elif defined(__arm__)

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_cntvct(void)
{
  unsigned long long count;

  __asm__ volatile("mrrc p15, 1, %Q0, %R0, c14" : "=r"(count));
  return count;
}

#if defined(__ARM_ARCH) && __ARM_ARCH >= 7
#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_CNTVCT, cpucycles_inline_cntvct)

/* As on arm64: ARMv7-A and ARMv7-R (DDI 0406C), section A3.8.3. */
#define CPUCYCLES_INLINE_FENCE "isb" : :
#elif defined(__ARM_ARCH) && __ARM_ARCH == 6 && !defined(__thumb__)
/* ISB under its older name, Flush Prefetch Buffer: ARM1176JZF-S Technical Reference Manual
   (DDI 0301), section 3.2.22, "Cache operations". */
#define CPUCYCLES_INLINE_FENCE "mcr p15, 0, %0, c7, c5, 4" : : "r"(0)
#endif

#elif defined(__powerpc__) || defined(__powerpc64__)

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_time_base(void)
{
#ifdef __powerpc64__
  unsigned long long count;

  __asm__ volatile("mfspr %0, 268" : "=r"(count));
  return count;
#else
  unsigned int before, low, high;

  __asm__ volatile("1:\tmftbu %0\n\tmftb %1\n\tmftbu %2\n\tcmpw %0, %2\n\tbne 1b"
    : "=&r"(before), "=&r"(low), "=&r"(high) : : "cr0");
  return ((unsigned long long)high << 32) | low;
#endif
}

#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_TIME_BASE, cpucycles_inline_time_base)

/* All instructions before ISYNC complete before ISYNC does, and no instruction after ISYNC is
   initiated until ISYNC has completed: Power ISA version 3.1, book II, "Instruction Synchronize".
   */
#define CPUCYCLES_INLINE_FENCE "isync" : :

#elif defined(__riscv)

#if __riscv_xlen == 64
CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_cycle(void)
{
  unsigned long long count;

  __asm__ volatile("rdcycle %0" : "=r"(count));
  return count;
}

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_time(void)
{
  unsigned long long count;

  __asm__ volatile("rdtime %0" : "=r"(count));
  return count;
}

#ifdef __riscv_zicsr
#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_CYCLE, cpucycles_inline_cycle) \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_TIME, cpucycles_inline_time)
#endif

#else

/* One asm for both counters, because compilers inline a short function more often. */
CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_cycle_or_time(unsigned int is_time)
{
  unsigned int before, low, high;

  __asm__ volatile("bnez %3, 2f\n"
    "1:\trdcycleh %0\n\trdcycle %1\n\trdcycleh %2\n\tbne %0, %2, 1b\n\tj 3f\n"
    "2:\trdtimeh %0\n\trdtime %1\n\trdtimeh %2\n\tbne %0, %2, 2b\n3:"
    : "=&r"(before), "=&r"(low), "=&r"(high) : "r"(is_time));
  return ((unsigned long long)high << 32) | low;
}

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_cycle(void)
{
  return cpucycles_inline_cycle_or_time(0);
}

CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_time(void)
{
  return cpucycles_inline_cycle_or_time(1);
}

#ifdef __riscv_zicsr
#define CPUCYCLES_INLINE_CASES \
  method -= CPUCYCLES_INLINE_CYCLE; /* TIME is the next number */ \
  if (method <= 1) \
    *count = cpucycles_inline_cycle_or_time(method); \
  else
#endif

#endif

/* Counters are CSRs, and FENCE orders reads of CSRs as device input: RISC-V Instruction Set Manual
   volume I, "Zicsr", section "CSR Access Ordering". No instruction in the manual waits for
   arithmetic. */
#define CPUCYCLES_INLINE_FENCE "fence iorw, iorw" : :

#elif defined(__s390x__)

/* The clock has been above 2^63 since 1971 and wraps around in 2042. Counted from 2000 (36524 days
   after its start in 1900, with 4096 units per microsecond), the count stays positive until 2071,
   and the scaled count until 2050 at frequencies up to 5.8 GHz. */
CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_tod(void)
{
  unsigned long long count;

  /* STCKF, encoded by hand for assemblers that target older machines */
  __asm__ volatile(".insn s,0xb27c0000,%0" : "=Q"(count) : : "cc");
  return count - (unsigned long long)36524 * 86400 * 1000000 * 4096;
}

#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_TOD, cpucycles_inline_tod)

/* BRANCH ON CONDITION with mask 15 and register 0 serializes: z/Architecture Principles of
   Operation (SA22-7832), chapter 5, "CPU Serialization", and chapter 7. */
#define CPUCYCLES_INLINE_FENCE "bcr 15,0" : :

#elif defined(__sparc_v9__) || defined(__arch64__)

#if defined(__sparc__) && defined(__arch64__)
CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_tick(void)
{
  unsigned long long count;

  __asm__ volatile("rd %%tick, %0" : "=r"(count));
  return count;
}

#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_TICK, cpucycles_inline_tick)
#endif

/* All operations before MEMBAR #Sync have been performed, and their exceptions are visible, before
   any operation after it is initiated: The SPARC Architecture Manual version 9, appendix A, "Memory
   Barrier", #Sync. */
#define CPUCYCLES_INLINE_FENCE "membar #Sync" : :

#elif defined(__loongarch__)

#if defined(__loongarch64) || (defined(__loongarch_grlen) && __loongarch_grlen == 64)
CPUCYCLES_INLINE_HELPER unsigned long long cpucycles_inline_stable_counter(void)
{
  unsigned long long count;

  __asm__ volatile("rdtime.d %0, $zero" : "=r"(count));
  return count;
}

#define CPUCYCLES_INLINE_CASES \
  CPUCYCLES_INLINE_CASE(method == CPUCYCLES_INLINE_STABLE_COUNTER, cpucycles_inline_stable_counter)
#endif

/* DBAR waits for all accesses to memory before it: LoongArch Reference Manual volume 1, section
   2.2.8.1, DBAR. No instruction in the manual waits for arithmetic. */
#define CPUCYCLES_INLINE_FENCE "dbar 0" : :

#elif defined(__mips_isa_rev) && __mips_isa_rev >= 2 && !defined(__mips16)

/* SYNC waits for accesses to memory. EHB stops the issue of instructions after it until hazards are
   cleared: MIPS32 Architecture for Programmers volume II, SYNC and EHB. */
#define CPUCYCLES_INLINE_FENCE "sync\n\tehb" : :

#elif defined(__alpha__)

/* MB orders accesses to memory, and EXCB orders instructions that can raise exceptions: Alpha
   Architecture Handbook version 4, sections 4.11.4 and 4.11.6, and A.4.5. */
#define CPUCYCLES_INLINE_FENCE "mb\n\texcb" : :

#elif defined(__hppa__)

/* SYNC orders accesses to memory: PA-RISC 2.0 Architecture, chapter 7, SYNC. */
#define CPUCYCLES_INLINE_FENCE "sync" : :

#elif defined(__ia64__)

/* MF orders accesses to memory: Intel Itanium Architecture Software Developer's Manual volume 3,
   "mf". */
#define CPUCYCLES_INLINE_FENCE "mf" : :

#elif defined(__m68k__)

/* NOP waits for the pipeline: M68000 Family Programmer's Reference Manual, section 4, NOP. */
#define CPUCYCLES_INLINE_FENCE "nop" : :

#endif

#ifndef CPUCYCLES_INLINE_FENCE
#define CPUCYCLES_INLINE_FENCE "" : :
#endif

/* Reads the counter with its instruction. Returns 0 if `method` stands for no instruction of this
   CPU, or if the program is compiled for CPUs without the instruction. */
CPUCYCLES_INLINE_HELPER int cpucycles_inline_instruction(unsigned int method,
  unsigned long long *count)
{
#ifdef CPUCYCLES_INLINE_CASES
  CPUCYCLES_INLINE_CASES
    return 0;
  return 1;
#else
  (void)method;
  (void)count;
  return 0;
#endif
}

/* Reads the method before the rest of the state, because the library writes it last. Where the
   compiler would call libatomic, no constant above stands for a counter. Clang does this for Armv5
   and for 32-bit SPARC, although it defines the macro as 2 for the latter. */
CPUCYCLES_INLINE_HELPER unsigned int cpucycles_inline_method(void)
{
#if __GCC_ATOMIC_INT_LOCK_FREE == 2 && (!defined(__sparc__) || defined(__arch64__))
  return __atomic_load_n(&cpucycles_inline_state.method, __ATOMIC_ACQUIRE);
#else
  return CPUCYCLES_INLINE_CALL;
#endif
}

/* Reads the count in cycles. Returns 0 if only a call of cpucycles() can read it. On x86,
   counters that have a constant above are never scaled. */
CPUCYCLES_INLINE_HELPER int cpucycles_inline_read(unsigned int method, long long *cycles)
{
  unsigned int instruction = method;
  unsigned long long count = 0;

#if !defined(__x86_64__) && !defined(__i386__)
  instruction &= ~(unsigned int)CPUCYCLES_INLINE_SCALED;
#endif
  if (!__builtin_expect(cpucycles_inline_instruction(instruction, &count), 1))
    return 0;
  *cycles = (long long)count;
  if (instruction != method)
    *cycles = cpucycles_inline_scale((long long)count, cpucycles_inline_state.multiplier,
      cpucycles_inline_state.shift);
  return 1;
}

/* Across the fence, the compiler moves neither accesses to memory that other functions can reach,
   nor calls of functions that make such accesses. The compiler may move other code, which the
   caller must prevent. */
CPUCYCLES_INLINE_HELPER void cpucycles_inline_fence_instruction(void)
{
  __asm__ volatile(CPUCYCLES_INLINE_FENCE : "memory");
}

/* Reads the count in cycles, with a call of cpucycles() if necessary. */
CPUCYCLES_INLINE_HELPER long long cpucycles_inline_count(void)
{
  long long cycles;

  return cpucycles_inline_read(cpucycles_inline_method(), &cycles) ? cycles : cpucycles();
}

/* Reads the count in cycles between two fences. */
CPUCYCLES_INLINE_HELPER long long cpucycles_inline_count_fenced(void)
{
  long long cycles;

  cpucycles_inline_fence_instruction();
  cycles = cpucycles_inline_count();
  cpucycles_inline_fence_instruction();
  return cycles;
}

/* Returns the smallest end - begin of 1000 empty sections; 0 if all are negative, because the
   counter was set back or the thread moved to another core. */
CPUCYCLES_INLINE_HELPER long long cpucycles_inline_smallest_section(long long (*begin)(void),
  long long (*end)(void))
{
  /* as unsigned, a negative section is at least this */
  const unsigned long long none = (unsigned long long)1 << 63;
  unsigned long long from, section, smallest = none;
  int i;

  for (i = 0; i < 1000; i++) {
    from = (unsigned long long)begin();
    section = (unsigned long long)end() - from;
    if (section < smallest)
      smallest = section;
  }
  return (long long)(smallest % none);
}

CPUCYCLES_INLINE_FUNCTION long long cpucycles_inline(void)
{
  return cpucycles_inline_count();
}

CPUCYCLES_INLINE_FUNCTION void cpucycles_inline_fence(void)
{
  cpucycles_inline_fence_instruction();
}

CPUCYCLES_INLINE_FUNCTION long long cpucycles_inline_section_begin(void)
{
  return cpucycles_inline_count_fenced();
}

CPUCYCLES_INLINE_FUNCTION long long cpucycles_inline_section_end(void)
{
  return cpucycles_inline_count_fenced();
}

CPUCYCLES_INLINE_FUNCTION long long cpucycles_inline_section_overhead(void)
{
  return cpucycles_inline_smallest_section(cpucycles_inline_section_begin,
    cpucycles_inline_section_end);
}

#undef CPUCYCLES_INLINE_FENCE
#undef CPUCYCLES_INLINE_CASE
#undef CPUCYCLES_INLINE_CASES
#undef CPUCYCLES_INLINE_WIDE
#undef CPUCYCLES_INLINE_FUNCTION
#undef CPUCYCLES_INLINE_HELPER

#endif

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC visibility pop
#pragma GCC diagnostic pop
#endif

#endif
