/* SPDX-License-Identifier: 0BSD OR MIT */
/* The configuration of a build without configure: the preprocessor chooses what configure finds.
   -DHAVE_BACKEND_ID=0 leaves a counter out, except the last resorts. */

/* With these macros, headers declare all that the system has, also with -std=c11. */
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE 1
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef _NETBSD_SOURCE
#define _NETBSD_SOURCE 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

/* For CLOCK_MONOTONIC and __GLIBC__. Its declarations also keep files of other targets from being
   empty, which ISO C forbids. */
#include <time.h>

#if !defined CPUCYCLES_POSIX && !defined _WIN32
#define CPUCYCLES_POSIX 1
#endif

/* The name of the header is not in a macro, because the macro "linux" would change it. */
#if defined __linux__ && defined __has_include
#if __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#endif
#endif
#if !defined HAVE_PERF_EVENTS && defined PERF_FLAG_FD_CLOEXEC
#define HAVE_PERF_EVENTS 1
#endif

#if !defined HAVE_CPUID_H && (defined __i386__ || defined __x86_64__)
#define HAVE_CPUID_H 1
#endif
#if defined HAVE_CPUID_H && defined __GLIBC__ && !defined __UCLIBC__
#if !defined HAVE___X86_GET_CPUID_FEATURE_LEAF && __GLIBC_PREREQ(2, 33)
#define HAVE___X86_GET_CPUID_FEATURE_LEAF 1
#endif
#endif

/* On Linux: glibc and musl, which has no macro, so the others are excluded. */
#if !defined HAVE_SECURE_GETENV && ((defined __FreeBSD__ && __FreeBSD__ >= 14) \
  || (defined __linux__ && !defined __UCLIBC__ && !defined __ANDROID__))
#define HAVE_SECURE_GETENV 1
#endif
#if !defined HAVE_ISSETUGID && (defined __APPLE__ || defined __FreeBSD__ || defined __NetBSD__ \
  || defined __OpenBSD__ || (defined __linux__ && !defined __GLIBC__ && !defined __ANDROID__))
#define HAVE_ISSETUGID 1
#endif
#if !defined HAVE_SYSCTLBYNAME && (defined __APPLE__ || defined __FreeBSD__ || defined __NetBSD__)
#define HAVE_SYSCTLBYNAME 1
#endif
#if !defined HAVE_HW_CPUSPEED && defined __OpenBSD__
#define HAVE_HW_CPUSPEED 1
#endif

/* Made from configure.ac and the heads of the probes with: sh tests/scripts/embed.sh --record */
#undef PACKAGE_VERSION
#define PACKAGE_VERSION "20261121"
#ifdef HAVE_BACKEND_amd64_pmc
#elif !defined __x86_64__ || !defined __linux__ || !defined HAVE_PERF_EVENTS
#define HAVE_BACKEND_amd64_pmc 0
#else
#define HAVE_BACKEND_amd64_pmc 1
#endif
#ifdef HAVE_BACKEND_amd64_pmcff
#elif !defined __x86_64__ || !defined __linux__
#define HAVE_BACKEND_amd64_pmcff 0
#else
#define HAVE_BACKEND_amd64_pmcff 1
#endif
#ifdef HAVE_BACKEND_amd64_rdpru
#elif !defined __x86_64__
#define HAVE_BACKEND_amd64_rdpru 0
#else
#define HAVE_BACKEND_amd64_rdpru 1
#endif
#ifdef HAVE_BACKEND_amd64_tsc
#elif !defined __x86_64__
#define HAVE_BACKEND_amd64_tsc 0
#else
#define HAVE_BACKEND_amd64_tsc 1
#endif
#ifdef HAVE_BACKEND_amd64_tscasm
#elif !defined __x86_64__
#define HAVE_BACKEND_amd64_tscasm 0
#else
#define HAVE_BACKEND_amd64_tscasm 1
#endif
#ifdef HAVE_BACKEND_x86_tsc
#elif !defined __i386__
#define HAVE_BACKEND_x86_tsc 0
#else
#define HAVE_BACKEND_x86_tsc 1
#endif
#ifdef HAVE_BACKEND_x86_tscasm
#elif !defined __i386__
#define HAVE_BACKEND_x86_tscasm 0
#else
#define HAVE_BACKEND_x86_tscasm 1
#endif
#ifdef HAVE_BACKEND_arm64_perfpmc
#elif !defined __aarch64__ || !defined __linux__ || !defined HAVE_PERF_EVENTS
#define HAVE_BACKEND_arm64_perfpmc 0
#else
#define HAVE_BACKEND_arm64_perfpmc 1
#endif
#ifdef HAVE_BACKEND_arm64_pmc
#elif !defined __aarch64__
#define HAVE_BACKEND_arm64_pmc 0
#else
#define HAVE_BACKEND_arm64_pmc 1
#endif
#ifdef HAVE_BACKEND_arm64_vct
#elif !defined __aarch64__
#define HAVE_BACKEND_arm64_vct 0
#else
#define HAVE_BACKEND_arm64_vct 1
#endif
#ifdef HAVE_BACKEND_arm32_cortex
#elif !defined __arm__ || defined __thumb__ && !defined __thumb2__
#define HAVE_BACKEND_arm32_cortex 0
#else
#define HAVE_BACKEND_arm32_cortex 1
#endif
#ifdef HAVE_BACKEND_arm32_1176
#elif !defined __arm__ || defined __thumb__ && !defined __thumb2__
#define HAVE_BACKEND_arm32_1176 0
#else
#define HAVE_BACKEND_arm32_1176 1
#endif
#ifdef HAVE_BACKEND_arm32_vct
#elif !defined __arm__ || defined __thumb__ && !defined __thumb2__ || !defined __ARM_FEATURE_DSP
#define HAVE_BACKEND_arm32_vct 0
#else
#define HAVE_BACKEND_arm32_vct 1
#endif
#ifdef HAVE_BACKEND_riscv64_perfrdcycle
#elif !defined __riscv || __riscv_xlen != 64 || !defined __linux__ || !defined HAVE_PERF_EVENTS
#define HAVE_BACKEND_riscv64_perfrdcycle 0
#else
#define HAVE_BACKEND_riscv64_perfrdcycle 1
#endif
#ifdef HAVE_BACKEND_riscv64_rdcycle
#elif !defined __riscv || __riscv_xlen != 64
#define HAVE_BACKEND_riscv64_rdcycle 0
#else
#define HAVE_BACKEND_riscv64_rdcycle 1
#endif
#ifdef HAVE_BACKEND_riscv64_rdtime
#elif !defined __riscv || __riscv_xlen != 64
#define HAVE_BACKEND_riscv64_rdtime 0
#else
#define HAVE_BACKEND_riscv64_rdtime 1
#endif
#ifdef HAVE_BACKEND_riscv32_perfrdcycle
#elif !defined __riscv || __riscv_xlen != 32 || !defined __linux__ || !defined HAVE_PERF_EVENTS
#define HAVE_BACKEND_riscv32_perfrdcycle 0
#else
#define HAVE_BACKEND_riscv32_perfrdcycle 1
#endif
#ifdef HAVE_BACKEND_riscv32_rdcycle
#elif !defined __riscv || __riscv_xlen != 32
#define HAVE_BACKEND_riscv32_rdcycle 0
#else
#define HAVE_BACKEND_riscv32_rdcycle 1
#endif
#ifdef HAVE_BACKEND_riscv32_rdtime
#elif !defined __riscv || __riscv_xlen != 32
#define HAVE_BACKEND_riscv32_rdtime 0
#else
#define HAVE_BACKEND_riscv32_rdtime 1
#endif
#ifdef HAVE_BACKEND_loong64_rdtime
#elif !defined __loongarch__ || __loongarch_grlen != 64
#define HAVE_BACKEND_loong64_rdtime 0
#else
#define HAVE_BACKEND_loong64_rdtime 1
#endif
#ifdef HAVE_BACKEND_mips64_cc
#elif !defined __mips__ || !defined __mips64
#define HAVE_BACKEND_mips64_cc 0
#else
#define HAVE_BACKEND_mips64_cc 1
#endif
#ifdef HAVE_BACKEND_mips32_cc
#elif !defined __mips__ || defined __mips64
#define HAVE_BACKEND_mips32_cc 0
#else
#define HAVE_BACKEND_mips32_cc 1
#endif
#ifdef HAVE_BACKEND_ppc64_mftb
#elif !defined __powerpc64__
#define HAVE_BACKEND_ppc64_mftb 0
#else
#define HAVE_BACKEND_ppc64_mftb 1
#endif
#ifdef HAVE_BACKEND_ppc32_mftb
#elif !defined __powerpc__ || defined __powerpc64__
#define HAVE_BACKEND_ppc32_mftb 0
#else
#define HAVE_BACKEND_ppc32_mftb 1
#endif
#ifdef HAVE_BACKEND_s390x_stckf
#elif !defined __s390x__
#define HAVE_BACKEND_s390x_stckf 0
#else
#define HAVE_BACKEND_s390x_stckf 1
#endif
#ifdef HAVE_BACKEND_sparc64_rdtick
#elif !defined __sparc__ || !defined __arch64__
#define HAVE_BACKEND_sparc64_rdtick 0
#else
#define HAVE_BACKEND_sparc64_rdtick 1
#endif
#ifdef HAVE_BACKEND_alpha_rpcc
#elif !defined __alpha__
#define HAVE_BACKEND_alpha_rpcc 0
#else
#define HAVE_BACKEND_alpha_rpcc 1
#endif
#ifdef HAVE_BACKEND_hppa_cr16
#elif !defined __hppa__
#define HAVE_BACKEND_hppa_cr16 0
#else
#define HAVE_BACKEND_hppa_cr16 1
#endif
#ifdef HAVE_BACKEND_ia64_itc
#elif !defined __ia64__
#define HAVE_BACKEND_ia64_itc 0
#else
#define HAVE_BACKEND_ia64_itc 1
#endif
#ifdef HAVE_BACKEND_default_selfcounts
#elif !defined __APPLE__
#define HAVE_BACKEND_default_selfcounts 0
#else
#define HAVE_BACKEND_default_selfcounts 1
#endif
#ifdef HAVE_BACKEND_default_perfevent
#elif !defined __linux__ || !defined HAVE_PERF_EVENTS
#define HAVE_BACKEND_default_perfevent 0
#else
#define HAVE_BACKEND_default_perfevent 1
#endif
#ifdef HAVE_BACKEND_default_mach
#elif !defined __APPLE__
#define HAVE_BACKEND_default_mach 0
#else
#define HAVE_BACKEND_default_mach 1
#endif
#ifdef HAVE_BACKEND_default_windows
#elif !defined _WIN32
#define HAVE_BACKEND_default_windows 0
#else
#define HAVE_BACKEND_default_windows 1
#endif
#ifdef HAVE_BACKEND_default_monotonic
#elif !defined CLOCK_MONOTONIC && !defined _WIN32
#define HAVE_BACKEND_default_monotonic 0
#else
#define HAVE_BACKEND_default_monotonic 1
#endif
#undef HAVE_BACKEND_default_gettimeofday
#define HAVE_BACKEND_default_gettimeofday 1
#undef HAVE_BACKEND_default_zero
#define HAVE_BACKEND_default_zero 1
