#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the public headers compile alone: cpucycles.h, cpucycles/bench.h and perfex.h from C89
# and C++98 on, cpucycles/inline.h from C99 and C++11 on, and the examples as C89 and C++98; with $CC
# and, if it is installed, Clang. Warnings are errors only if CPUCYCLES_TEST_WERROR is -Werror,
# because newer compilers may warn of more, and must not fail for packagers.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
cat >$work/cpucycles.c <<'END'
#include <cpucycles.h>
#include <cpucycles.h>
#if CPUCYCLES_VERSION < 20261121
#error "CPUCYCLES_VERSION is not a number"
#endif
extern int use(void);
int use(void)
{
  /* compares their types, because abi.sh does not find that of cpucycles_section_end() */
  return cpucycles == cpucycles_section_end && cpucycles_timer()->invariant == CPUCYCLES_SELECTED;
}
END
# An inline function with external linkage may call only such functions (C99 6.7.4).
cat >$work/inline.c <<'END'
#include <cpucycles/inline.h>
#include <cpucycles/inline.h>
inline long long use(void);
inline long long use(void)
{
  cpucycles_inline_fence();
  return cpucycles_inline_section_end() - cpucycles_inline_section_begin() - cpucycles_inline()
    - cpucycles_inline_section_overhead();
}
END
# In C++, NULL is not used here, because Clang warns of it where it is not __null.
cat >$work/bench.c <<'END'
#include <cpucycles/bench.h>
#include <cpucycles/bench.h>
enum kind { FIRST, SECOND };
struct bits { unsigned int three : 3; int sign : 5; };
#ifndef __cplusplus
static struct cpucycles_bench_setup stored = CPUCYCLES_BENCH_SETUP;
#endif
static void work(void *argument)
{
  static int number = 3;
  struct bits bits = { 5, -3 };
  const int constant = 7;
  volatile short changing = 3;
  enum kind kind = SECOND;
  float narrow = 1.5f;

  cpucycles_bench_keep(argument);
  cpucycles_bench_keep(&bits);
  cpucycles_bench_keep(argument == &number ? 1.5 : 2.5);
  cpucycles_bench_keep(bits.three);
  cpucycles_bench_keep(bits.sign);
  cpucycles_bench_keep(constant);
  cpucycles_bench_keep(changing);
  cpucycles_bench_keep(kind);
  cpucycles_bench_keep(narrow);
  cpucycles_bench_keep(number++);
#ifdef __cplusplus
  const struct bits &unchanged = bits;
  int &reference = number;

  cpucycles_bench_keep(unchanged.three);
  cpucycles_bench_keep(reference);
  cpucycles_bench_keep(argument == &number);
#endif
}
extern int use(int x);
int use(int x)
{
  struct cpucycles_bench_setup setup = CPUCYCLES_BENCH_SETUP;
  struct cpucycles_bench_result result;

  setup.function = work;
#ifndef __cplusplus
  setup = stored;
#endif
  cpucycles_bench(&result, work, &x);
  cpucycles_bench_print_json(stdout, "work", &result);
  return cpucycles_bench_run(&result, &setup);
}
END
cat >$work/callable.c <<'END'
#include <cpucycles/bench.h>
struct functor { // not copied
  int calls;
  functor() : calls(0) { }
  functor(const functor &) = delete;
  void operator()() { calls++; }
};
struct unchanging {
  int operator()() const { return 3; }
};
enum class scoped { ONE };
extern void function();
extern int answer() noexcept;
extern void use(cpucycles_bench_result *result);
void use(cpucycles_bench_result *result)
{
  const unchanging constant = unchanging();
  functor called;
  int calls = 0;
  auto lambda = [&calls] { cpucycles_bench_keep(++calls); };
  void (*pointer)() = function;

  cpucycles_bench(result, lambda);
  cpucycles_bench(result, [calls]() mutable { return ++calls; });
  cpucycles_bench(result, called);
  cpucycles_bench(result, functor());
  cpucycles_bench(result, constant);
  cpucycles_bench(result, function);
  cpucycles_bench(result, pointer);
  cpucycles_bench(result, answer);
  cpucycles_bench_keep(scoped::ONE);
}
END
cat >$work/perfex.c <<'END'
#include <perfex.h>
#include <perfex.h>
extern struct perfex_group *use(void);
struct perfex_group *use(void)
{
  return perfex_open("cycles, instructions", PERFEX_INHERIT | PERFEX_FIRST);
}
END
flags="-Wall -Wextra -Wundef -Wshadow $CPUCYCLES_TEST_WERROR -I$srcdir/include"

strict='-Wold-style-cast -Wzero-as-null-pointer-constant'
# compiles NAME STANDARDS OPTIONS: compiles NAME.c as these standards of C, or of C++ with $strict
compiles() {
  for std in $2; do
    language=c options=$3
    case $std in *++*) language=c++ options="$3 $strict" ;; esac
    # words are meant to split
    # shellcheck disable=SC2086
    $CC $CPPFLAGS -O2 -x $language -std=$std $flags $options -c -o $work/object $work/$1.c ||
      wrong "$1: not clean as $std with $CC"
  done
}

compiles_headers() {
  cpp98='c++98 c++11 c++17' cpp11='c++11 c++17'
  if ! echo 'int x;' | $CC -x c++ -fsyntax-only - 2>/dev/null; then
    skipped "C++: $CC does not compile it: install g++"
    cpp98='' cpp11=''
  fi
  compiles cpucycles "c89 gnu89 c99 c11 c17 $cpp98" -pedantic
  compiles inline "c99 gnu99 c11 c17 $cpp11" -pedantic
  compiles bench "c89 gnu89 c99 c11 c17 $cpp98" '-pedantic -Wconversion'
  compiles callable "$cpp11" '-pedantic -Wconversion'
}

compiles_all() {
  compiles_headers
  compiles perfex "c89 gnu89 c99 c11 c17 $cpp98" -pedantic
  # -Wlong-long warns of the functions above, too
  echo '#include <cpucycles/inline.h>' >$work/included.c
  compiles included "$cpp11" '-pedantic -Wlong-long'
  # with -pedantic, C89 and C++98 have no long long; what is C, too, has casts and NULL
  saved=$strict strict=
  for example in "$srcdir"/examples/*.c; do
    case $example in *threads.c) [ -z "$EXEEXT" ] || continue ;; esac # Windows has none of POSIX
    cp "$example" $work/example.c
    compiles example "c89 c17 $cpp98" -Wconversion
  done
  strict=$saved
}
compiles_all
# Of the macros with "cpucycles" or "perfex" in the name, the headers define only guards and
# documented macros.
left=$(cat $work/*.c | $CC -dM -E -I"$srcdir/include" -x c - |
  sed -n 's/^#define \([A-Za-z0-9_]*\).*/\1/p' |
  grep -i -e '^[A-Z_]*cpucycles' -e '^[A-Z_]*perfex' |
  grep -vx -e LIBCPUCYCLES_H -e LIBCPUCYCLES_INLINE_H -e LIBCPUCYCLES_BENCH_H \
    -e LIBCPUCYCLES_PERFEX_H -e CPUCYCLES_VERSION -e CPUCYCLES_DROPPED -e CPUCYCLES_USABLE \
    -e CPUCYCLES_SELECTED -e PERFEX_INHERIT -e PERFEX_FIRST -e CPUCYCLES_BENCH_SETUP \
    -e cpucycles_bench_keep || :)
[ -z "$left" ] || wrong "leaves $left defined"
CC=clang
if echo '#include <stdio.h>' | $CC -x c -fsyntax-only - 2>/dev/null; then
  compiles_all
else
  skipped "the headers with Clang: clang is not installed"
fi
# In the ABI of MSVC, the functions of inline.h are calls of the library. Its headers are not here,
# so bench.h finds its part of <stdio.h>. Without the macro __clang__, it does not use GNU C.
mkdir $work/msvc
cat >$work/msvc/stdio.h <<'END'
#ifdef __cplusplus
extern "C" {
#else
#define NULL ((void *)0)
#endif
typedef struct file FILE;
extern FILE *stdout;
extern int fputs(const char *text, FILE *file);
#ifdef __cplusplus
}
#endif
END
CC='clang --target=x86_64-pc-windows-msvc'
if echo 'int x;' | $CC -x c -fsyntax-only - 2>/dev/null; then
  for CPPFLAGS in "-I$work/msvc -DCPUCYCLES_STATIC" "-I$work/msvc"; do
    compiles_headers
  done
  CPPFLAGS="$CPPFLAGS -U__clang__"
  compiles bench 'c99 c17 c++11 c++17' '-pedantic -Wno-literal-conversion'
else
  skipped "ABI of MSVC: clang is not installed, or does not compile for it"
fi
exit $failed
