/* config.h.  Generated from config.h.in by configure.  */
/* config.h.in.  Generated from configure.ac by autoheader.  */

/* Define to 1 if the system has the interface of POSIX. */
#define CPUCYCLES_POSIX 1

/* Define to 1 if counter alpha-rpcc is built, else to 0. */
#define HAVE_BACKEND_alpha_rpcc 0

/* Define to 1 if counter amd64-pmcff is built, else to 0. */
#define HAVE_BACKEND_amd64_pmcff 1

/* Define to 1 if counter amd64-rdpru is built, else to 0. */
#define HAVE_BACKEND_amd64_rdpru 1

/* Define to 1 if counter amd64-tsc is built, else to 0. */
#define HAVE_BACKEND_amd64_tsc 1

/* Define to 1 if counter amd64-tscasm is built, else to 0. */
#define HAVE_BACKEND_amd64_tscasm 1

/* Define to 1 if counter arm32-1176 is built, else to 0. */
#define HAVE_BACKEND_arm32_1176 0

/* Define to 1 if counter arm32-cortex is built, else to 0. */
#define HAVE_BACKEND_arm32_cortex 0

/* Define to 1 if counter arm32-vct is built, else to 0. */
#define HAVE_BACKEND_arm32_vct 0

/* Define to 1 if counter arm64-pmc is built, else to 0. */
#define HAVE_BACKEND_arm64_pmc 0

/* Define to 1 if counter arm64-vct is built, else to 0. */
#define HAVE_BACKEND_arm64_vct 0

/* Define to 1 if counter default-gettimeofday is built, else to 0. */
#define HAVE_BACKEND_default_gettimeofday 1

/* Define to 1 if counter default-mach is built, else to 0. */
#define HAVE_BACKEND_default_mach 0

/* Define to 1 if counter default-monotonic is built, else to 0. */
#define HAVE_BACKEND_default_monotonic 1

/* Define to 1 if counter default-perfevent is built, else to 0. */
#define HAVE_BACKEND_default_perfevent 1

/* Define to 1 if counter default-selfcounts is built, else to 0. */
#define HAVE_BACKEND_default_selfcounts 0

/* Define to 1 if counter default-windows is built, else to 0. */
#define HAVE_BACKEND_default_windows 0

/* Define to 1 if counter default-zero is built, else to 0. */
#define HAVE_BACKEND_default_zero 1

/* Define to 1 if counter hppa-cr16 is built, else to 0. */
#define HAVE_BACKEND_hppa_cr16 0

/* Define to 1 if counter ia64-itc is built, else to 0. */
#define HAVE_BACKEND_ia64_itc 0

/* Define to 1 if counter loong64-rdtime is built, else to 0. */
#define HAVE_BACKEND_loong64_rdtime 0

/* Define to 1 if counter mips32-cc is built, else to 0. */
#define HAVE_BACKEND_mips32_cc 0

/* Define to 1 if counter mips64-cc is built, else to 0. */
#define HAVE_BACKEND_mips64_cc 0

/* Define to 1 if counter ppc32-mftb is built, else to 0. */
#define HAVE_BACKEND_ppc32_mftb 0

/* Define to 1 if counter ppc64-mftb is built, else to 0. */
#define HAVE_BACKEND_ppc64_mftb 0

/* Define to 1 if counter riscv32-rdcycle is built, else to 0. */
#define HAVE_BACKEND_riscv32_rdcycle 0

/* Define to 1 if counter riscv32-rdtime is built, else to 0. */
#define HAVE_BACKEND_riscv32_rdtime 0

/* Define to 1 if counter riscv64-rdcycle is built, else to 0. */
#define HAVE_BACKEND_riscv64_rdcycle 0

/* Define to 1 if counter riscv64-rdtime is built, else to 0. */
#define HAVE_BACKEND_riscv64_rdtime 0

/* Define to 1 if counter s390x-stckf is built, else to 0. */
#define HAVE_BACKEND_s390x_stckf 0

/* Define to 1 if counter sparc64-rdtick is built, else to 0. */
#define HAVE_BACKEND_sparc64_rdtick 0

/* Define to 1 if counter x86-tsc is built, else to 0. */
#define HAVE_BACKEND_x86_tsc 0

/* Define to 1 if counter x86-tscasm is built, else to 0. */
#define HAVE_BACKEND_x86_tscasm 0

/* Define to 1 if you have the `clock_gettime' function. */
#define HAVE_CLOCK_GETTIME 1

/* Define to 1 if you have the <cpuid.h> header file. */
#define HAVE_CPUID_H 1

/* Define to 1 if you have the <dlfcn.h> header file. */
#define HAVE_DLFCN_H 1

/* Define to 1 if you have the `geteuid' function. */
#define HAVE_GETEUID 1

/* Is there the sysctl of OpenBSD? */
/* #undef HAVE_HW_CPUSPEED */

/* Define to 1 if you have the <inttypes.h> header file. */
#define HAVE_INTTYPES_H 1

/* Define to 1 if you have the `issetugid' function. */
/* #undef HAVE_ISSETUGID */

/* Define to 1 if you have the `perfstat' library (-lperfstat). */
/* #undef HAVE_LIBPERFSTAT */

/* Define to 1 if you have the <linux/perf_event.h> header file. */
#define HAVE_LINUX_PERF_EVENT_H 1

/* Define to 1 if you have the <linux/seccomp.h> header file. */
#define HAVE_LINUX_SECCOMP_H 1

/* Define to 1 if you have the <minix/config.h> header file. */
/* #undef HAVE_MINIX_CONFIG_H */

/* Define to 1 if you have the `processor_info' function. */
/* #undef HAVE_PROCESSOR_INFO */

/* Define if you have POSIX threads libraries and header files. */
#define HAVE_PTHREAD 1

/* Have PTHREAD_PRIO_INHERIT. */
#define HAVE_PTHREAD_PRIO_INHERIT 1

/* Define to 1 if you have the `secure_getenv' function. */
#define HAVE_SECURE_GETENV 1

/* Define to 1 if you have the <stdint.h> header file. */
#define HAVE_STDINT_H 1

/* Define to 1 if you have the <stdio.h> header file. */
#define HAVE_STDIO_H 1

/* Define to 1 if you have the <stdlib.h> header file. */
#define HAVE_STDLIB_H 1

/* Define to 1 if you have the <strings.h> header file. */
#define HAVE_STRINGS_H 1

/* Define to 1 if you have the <string.h> header file. */
#define HAVE_STRING_H 1

/* Define to 1 if you have the `sysctlbyname' function. */
/* #undef HAVE_SYSCTLBYNAME */

/* Define to 1 if you have the <sys/stat.h> header file. */
#define HAVE_SYS_STAT_H 1

/* Define to 1 if you have the <sys/syscall.h> header file. */
#define HAVE_SYS_SYSCALL_H 1

/* Define to 1 if you have the <sys/types.h> header file. */
#define HAVE_SYS_TYPES_H 1

/* Define to 1 if you have the <sys/utsname.h> header file. */
#define HAVE_SYS_UTSNAME_H 1

/* Define to 1 if you have the <unistd.h> header file. */
#define HAVE_UNISTD_H 1

/* Define to 1 if you have the <wchar.h> header file. */
#define HAVE_WCHAR_H 1

/* Define to the sub-directory where libtool stores uninstalled libraries. */
#define LT_OBJDIR ".libs/"

/* Name of package */
#define PACKAGE "libcpucycles"

/* Define to the address where bug reports for this package should be sent. */
#define PACKAGE_BUGREPORT ""

/* Define to the full name of this package. */
#define PACKAGE_NAME "libcpucycles"

/* Define to the full name and version of this package. */
#define PACKAGE_STRING "libcpucycles 20261121"

/* Define to the one symbol short name of this package. */
#define PACKAGE_TARNAME "libcpucycles"

/* Define to the home page for this package. */
#define PACKAGE_URL ""

/* Define to the version of this package. */
#define PACKAGE_VERSION "20261121"

/* Define to necessary symbol if this constant uses a non-standard name on
   your system. */
/* #undef PTHREAD_CREATE_JOINABLE */

/* Define to 1 if all of the C90 standard headers exist (not just the ones
   required in a freestanding environment). This macro is provided for
   backward compatibility; new code need not use it. */
#define STDC_HEADERS 1

/* Enable extensions on AIX 3, Interix.  */
#ifndef _ALL_SOURCE
# define _ALL_SOURCE 1
#endif
/* Enable general extensions on macOS.  */
#ifndef _DARWIN_C_SOURCE
# define _DARWIN_C_SOURCE 1
#endif
/* Enable general extensions on Solaris.  */
#ifndef __EXTENSIONS__
# define __EXTENSIONS__ 1
#endif
/* Enable GNU extensions on systems that have them.  */
#ifndef _GNU_SOURCE
# define _GNU_SOURCE 1
#endif
/* Enable X/Open compliant socket functions that do not require linking
   with -lxnet on HP-UX 11.11.  */
#ifndef _HPUX_ALT_XOPEN_SOCKET_API
# define _HPUX_ALT_XOPEN_SOCKET_API 1
#endif
/* Identify the host operating system as Minix.
   This macro does not affect the system headers' behavior.
   A future release of Autoconf may stop defining this macro.  */
#ifndef _MINIX
/* # undef _MINIX */
#endif
/* Enable general extensions on NetBSD.
   Enable NetBSD compatibility extensions on Minix.  */
#ifndef _NETBSD_SOURCE
# define _NETBSD_SOURCE 1
#endif
/* Enable OpenBSD compatibility extensions on NetBSD.
   Oddly enough, this does nothing on OpenBSD.  */
#ifndef _OPENBSD_SOURCE
# define _OPENBSD_SOURCE 1
#endif
/* Define to 1 if needed for POSIX-compatible behavior.  */
#ifndef _POSIX_SOURCE
/* # undef _POSIX_SOURCE */
#endif
/* Define to 2 if needed for POSIX-compatible behavior.  */
#ifndef _POSIX_1_SOURCE
/* # undef _POSIX_1_SOURCE */
#endif
/* Enable POSIX-compatible threading on Solaris.  */
#ifndef _POSIX_PTHREAD_SEMANTICS
# define _POSIX_PTHREAD_SEMANTICS 1
#endif
/* Enable extensions specified by ISO/IEC TS 18661-5:2014.  */
#ifndef __STDC_WANT_IEC_60559_ATTRIBS_EXT__
# define __STDC_WANT_IEC_60559_ATTRIBS_EXT__ 1
#endif
/* Enable extensions specified by ISO/IEC TS 18661-1:2014.  */
#ifndef __STDC_WANT_IEC_60559_BFP_EXT__
# define __STDC_WANT_IEC_60559_BFP_EXT__ 1
#endif
/* Enable extensions specified by ISO/IEC TS 18661-2:2015.  */
#ifndef __STDC_WANT_IEC_60559_DFP_EXT__
# define __STDC_WANT_IEC_60559_DFP_EXT__ 1
#endif
/* Enable extensions specified by ISO/IEC TS 18661-4:2015.  */
#ifndef __STDC_WANT_IEC_60559_FUNCS_EXT__
# define __STDC_WANT_IEC_60559_FUNCS_EXT__ 1
#endif
/* Enable extensions specified by ISO/IEC TS 18661-3:2015.  */
#ifndef __STDC_WANT_IEC_60559_TYPES_EXT__
# define __STDC_WANT_IEC_60559_TYPES_EXT__ 1
#endif
/* Enable extensions specified by ISO/IEC TR 24731-2:2010.  */
#ifndef __STDC_WANT_LIB_EXT2__
# define __STDC_WANT_LIB_EXT2__ 1
#endif
/* Enable extensions specified by ISO/IEC 24747:2009.  */
#ifndef __STDC_WANT_MATH_SPEC_FUNCS__
# define __STDC_WANT_MATH_SPEC_FUNCS__ 1
#endif
/* Enable extensions on HP NonStop.  */
#ifndef _TANDEM_SOURCE
# define _TANDEM_SOURCE 1
#endif
/* Enable X/Open extensions.  Define to 500 only if necessary
   to make mbstate_t available.  */
#ifndef _XOPEN_SOURCE
/* # undef _XOPEN_SOURCE */
#endif


/* Version number of package */
#define VERSION "20261121"
