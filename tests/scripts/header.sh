#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests that the public headers compile alone: cpucycles.h and perfex.h from C89 and C++98 on,
# cpucycles/inline.h and cpucycles/bench.h from C99 and C++11 on. Warnings are errors only if
# CPUCYCLES_TEST_WERROR is -Werror, because newer compilers may warn of more, and must not fail for
# packagers.

set -eu
: "${srcdir:=.}" "${CC:=cc}"
failed=0
work=header.tmp
trap 'rm -rf $work' EXIT
rm -rf $work
mkdir $work
cat >$work/cpucycles.c <<'END'
#include <cpucycles.h>
#include <cpucycles.h>
extern int use(void);
int use(void)
{
  const struct cpucycles_counter_info *counter = cpucycles_counter(0) ? cpucycles_selected() : 0;

  cpucycles_tracesetup();
  if (cpucycles_section_begin() + cpucycles_section_overhead() > cpucycles_section_end()
    || cpucycles_rate() == 0 || cpucycles_frequency_source() == cpucycles_frequency_ignored())
    return 0;
  /* compares their types, too, because abi.sh does not find that of cpucycles_section_end() */
  if (cpucycles == cpucycles_section_end || cpucycles_core_persecond() > cpucycles_rate())
    return 0;
  if (cpucycles_implementation_ignored() && cpucycles_timer()->invariant == 1)
    return 0;
  return cpucycles() == cpucycles_persecond() && cpucycles_version() == cpucycles_implementation()
    && counter->state == CPUCYCLES_SELECTED;
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
cat >$work/bench.c <<'END'
#include <cpucycles/bench.h>
#include <cpucycles/bench.h>
static void work(void *argument)
{
  cpucycles_bench_keep(argument);
  cpucycles_bench_keep(argument == 0 ? 1.5 : 2.5);
}
extern int use(int x);
int use(int x)
{
  struct cpucycles_bench_result result;

  cpucycles_bench_keep(x + 1);
  cpucycles_bench(&result, work, &x);
  cpucycles_bench_print(stdout, "work", &result);
  cpucycles_bench_print_json(stdout, "work", &result);
  return result.samples;
}
END
cat >$work/perfex.c <<'END'
#include <perfex.h>
#include <perfex.h>
extern int use(char *name);
int use(char *name)
{
  return load_costs(name) + start_counters(0, 15) + perfex_event("cycles") + perfex_print_table();
}
END
flags="-pedantic -Wall -Wextra -Wundef ${CPUCYCLES_TEST_WERROR-} -I$srcdir/include -fsyntax-only"

# compiles NAME STANDARDS C-OPTIONS: compiles NAME.c as these standards of C, or of C++
compiles() {
  for std in $2; do
    language=c options=$3
    case $std in *++*) language=c++ options="$3 -Wold-style-cast" ;; esac
    # words are meant to split
    # shellcheck disable=SC2086
    $CC $CPPFLAGS -x $language -std=$std $flags $options $work/$1.c ||
      { echo "header: $1: not clean as $std"; failed=1; }
  done
}
cpp98='c++98 c++11 c++17' cpp11='c++11 c++17'
if ! echo 'int x;' | $CC -x c++ -fsyntax-only - 2>/dev/null; then
  echo "header: skipped: C++: this compiler does not compile it"
  cpp98='' cpp11=''
fi
compiles cpucycles "c89 gnu89 c99 c11 c17 $cpp98" ''
compiles perfex "c89 gnu89 c99 c11 c17 $cpp98" ''
compiles inline "c99 gnu99 c11 c17 $cpp11" ''
compiles bench "c99 gnu99 c11 c17 $cpp11" '-Wshadow -Wconversion'
# -Wlong-long warns of the functions above, too
echo '#include <cpucycles/inline.h>' >$work/included.c
compiles included "$cpp11" -Wlong-long
# Of the macros with "cpucycles" or "perfex" in the name, the headers define only guards and
# documented macros.
left=$(cat $work/*.c | $CC -dM -E -I"$srcdir/include" -x c - |
  sed -n 's/^#define \([A-Za-z0-9_]*\).*/\1/p' |
  grep -i -e '^[A-Z_]*cpucycles' -e '^[A-Z_]*perfex' |
  grep -vx -e LIBCPUCYCLES_H -e LIBCPUCYCLES_INLINE_H -e LIBCPUCYCLES_BENCH_H \
    -e LIBCPUCYCLES_PERFEX_H -e CPUCYCLES_DROPPED -e CPUCYCLES_USABLE -e CPUCYCLES_SELECTED -e PERFEX_INHERIT \
    -e cpucycles_bench_keep || :)
[ -z "$left" ] || { echo "header: leaves $left defined"; failed=1; }
# Without GNU C, as in the ABI of MSVC, the functions of inline.h are calls of the library.
CC='clang --target=x86_64-pc-windows-msvc'
if echo 'int x;' | $CC -x c -fsyntax-only - 2>/dev/null; then
  for CPPFLAGS in '' -DCPUCYCLES_STATIC; do
    compiles cpucycles 'c89 c99 c17 c++98 c++11 c++17' ''
    compiles inline 'c99 c17 c++11 c++17' ''
  done
else
  echo "header: skipped: ABI of MSVC: no clang that compiles for it"
fi
exit $failed
