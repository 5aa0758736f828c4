/* SPDX-License-Identifier: 0BSD OR MIT */
/* The fence around a timed section: what is before it is executed before anything that is after it. For the
   compiler in any case; for the CPU by the instruction that its manual names. Wherever one may choose, none
   that leaves user mode or the virtual machine, as CPUID does. */

#ifndef CPUCYCLES_FENCE_H
#define CPUCYCLES_FENCE_H

static inline void cpucycles_fence(void)
{
#if defined(__x86_64__) || defined(__SSE2__)
  /* Does not execute until all that is before it has completed, and nothing after it begins before it has:
     Intel SDM volume 2A, LFENCE. On AMD where it is dispatch serializing, which Linux sees to: AMD,
     "Software Techniques for Managing Speculation on AMD Processors", MSR C001_1029[1]; Linux,
     arch/x86/kernel/cpu/amd.c. */
  __asm__ volatile("lfence" : : : "memory");
#elif defined(__i386__)
  /* Programs for CPUs without SSE2 have no LFENCE; beside CPUID, IRET is the serializing instruction that
     user mode has: Intel SDM volume 3A, "Serializing Instructions". */
  __asm__ volatile("pushfl\n\tpushl %%cs\n\tcall 1f\n\tjmp 2f\n1:\tiret\n2:" : : : "memory");
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
  /* What is after it is fetched after it has completed: Arm Architecture Reference Manual for A-profile
     (DDI 0487), section B2, "Instruction Synchronization Barrier", and ARMv7-A and ARMv7-R (DDI 0406C),
     section A3.8.3. */
  __asm__ volatile("isb" : : : "memory");
#elif defined(__ARM_ARCH) && __ARM_ARCH == 6 && !defined(__thumb__)
  /* The same by its older name, Flush Prefetch Buffer: ARM1176JZF-S Technical Reference Manual (DDI 0301),
     section 3.2.22, "Cache operations". */
  __asm__ volatile("mcr p15, 0, %0, c7, c5, 4" : : "r"(0) : "memory");
#elif defined(__riscv)
  /* Counts are CSRs, and a read of a CSR is device input to the fence: RISC-V Instruction Set Manual volume I,
     "Zicsr", section "CSR Access Ordering". Nothing in the manual waits for arithmetic. */
  __asm__ volatile("fence iorw, iorw" : : : "memory");
#elif defined(__loongarch__)
  /* Waits for all accesses to memory before it: LoongArch Reference Manual volume 1, section 2.2.8.1, DBAR.
     Nothing in the manual waits for arithmetic. */
  __asm__ volatile("dbar 0" : : : "memory");
#elif defined(__mips_isa_rev) && __mips_isa_rev >= 2
  /* SYNC waits for accesses to memory, EHB keeps what is after it from being issued while hazards are left:
     MIPS32 Architecture for Programmers volume II, SYNC and EHB. */
  __asm__ volatile("sync\n\tehb" : : : "memory");
#elif defined(__powerpc__)
  /* All before it have completed before it does, and none after it is initiated until then: Power ISA version
     3.1, book II, "Instruction Synchronize". */
  __asm__ volatile("isync" : : : "memory");
#elif defined(__s390x__)
  /* The serialization of BRANCH ON CONDITION with mask 15 and register 0: z/Architecture Principles of
     Operation (SA22-7832), chapter 5, "CPU Serialization", and chapter 7. */
  __asm__ volatile("bcr 15,0" : : : "memory");
#elif defined(__sparc_v9__) || defined(__arch64__)
  /* All before it have been performed, and their exceptions seen, before any after it is initiated: The SPARC
     Architecture Manual version 9, appendix A, "Memory Barrier", #Sync. */
  __asm__ volatile("membar #Sync" : : : "memory");
#elif defined(__alpha__)
  /* MB orders accesses to memory, EXCB what can raise exceptions: Alpha Architecture Handbook version 4,
     sections 4.11.4 and 4.11.6, and A.4.5. */
  __asm__ volatile("mb\n\texcb" : : : "memory");
#elif defined(__hppa__)
  /* Orders accesses to memory: PA-RISC 2.0 Architecture, chapter 7, SYNC. */
  __asm__ volatile("sync" : : : "memory");
#elif defined(__ia64__)
  /* Orders accesses to memory: Intel Itanium Architecture Software Developer's Manual volume 3, "mf". */
  __asm__ volatile("mf" : : : "memory");
#elif defined(__m68k__)
  /* Waits for the pipeline: M68000 Family Programmer's Reference Manual, section 4, NOP. */
  __asm__ volatile("nop" : : : "memory");
#else
  __asm__ volatile("" : : : "memory");
#endif
}

#endif
