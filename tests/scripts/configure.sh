#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests the decisions of configure: configure.sh SOURCE, from a build directory. Probes, lists and
# cache variables choose the counters; an error names its cause; configure does not change the
# user's flags. Autoconf and Automake print no warning.

set -eu
export LC_ALL=C
srcdir=$1
. "$srcdir/tests/scripts/begin.sh"
work=$(pwd)/$work
source=$work/source
cp -R "$srcdir" "$source"
chmod -R u+w "$source"

# Configures in $work/build. Returns configure's status; its output is in $work/out.
configure() {
  rm -rf "$work/build" && mkdir "$work/build"
  (cd "$work/build" && "$source/configure" -q --cache-file=../cache "$@" >../out 2>&1)
}

built() {
  sed -n 's/^#define HAVE_BACKEND_\([a-z0-9_]*\) 1$/\1/p' "$work/build/config.h" | tr _ - | sort | tr '\n' ' '
}

# accepts NAME "COUNTERS" ARGUMENT...: expects exactly these counters to be built
accepts() {
  name=$1 wanted=$2
  shift 2
  configure "$@" || wrong "$name: refused: $(cat "$work/out")"
  [ "$(built)" = "$wanted" ] || wrong "$name: built: $(built), expected: $wanted"
}

# refuses NAME "WORD" ARGUMENT...: expects an error that contains the word
refuses() {
  name=$1 word=$2
  shift 2
  ! configure "$@" || wrong "$name: accepted"
  grep -q -e "error: .*$word" "$work/out" ||
    wrong "$name: the error does not contain $word: $(cat "$work/out")"
}

# passes NAME COMMAND...: expects success
passes() {
  name=$1
  shift
  "$@" >"$work/out" 2>&1 || wrong "$name: $(cat "$work/out")"
}

# builds TARGET...: makes the targets in $work/build, without optimization, which no test needs
builds() { make -s -C "$work/build" CFLAGS=-O0 "$@"; }

# says NAME "PATTERN": expects a matching line in the output of the last run
says() {
  grep -Eq -e "$2" "$work/out" || wrong "$1: no line matches '$2' in: $(cat "$work/out")"
}

# Warnings are errors only here, because newer tools may warn of more, and must not fail for
# packagers.
passes "autoreconf warns or fails" env -C "$source" AUTOCONF='autoconf -Wall -Werror' \
  AUTOMAKE='automake -Werror' autoreconf --force --install

(cd "$source" && sed -n 's/^CPUCYCLES_BACKEND([^"]*"\([^"]*\)".*/\1/p' backends/backends.def) >"$work/all"
configure || { cat "$work/out"; exit 1; }
cp "$work/cache" "$work/first"
# forget VARIABLE: returns to the results of the first run, except for this variable
forget() { grep -v "^$1=" "$work/first" >"$work/cache"; }
usual=$(built)
first=$(echo "$usual" | tr ' ' '\n' | grep -v ^default- | head -n 1)
[ -n "$first" ] || first=default-monotonic
second=$(echo "$usual" | tr ' ' '\n' | grep -vx -e "$first" -e default-gettimeofday -e default-zero | head -n 1)
foreign=$(for name in $(cat "$work/all"); do
  case " $usual " in *" $name "*) ;; *) grep -q "^    $name: " "$work/out" || echo "$name" ;; esac
done)
number=$(echo "$foreign" | grep -c .)
foreign=$(echo "$foreign" | head -n 1)
[ -n "$foreign" ] || { echo "configure: no counter is left out as one of another target"; exit 1; }
says "the summary lists the counters that are built" "^    $first\$"
says "the summary has the number of the counters of other targets" "^    $number counters of other CPUs and systems\$"

last='default-gettimeofday default-zero'
accepts "one counter" "$(printf '%s\n' "$first" $last | sort | tr '\n' ' ')" --with-backends="$first"
says "the summary gives the counters that the list leaves out" "^    $foreign: not in --with-backends\$"
accepts "two counters, by spaces and commas" \
  "$(printf '%s\n' "$first" "$second" $last | sort | tr '\n' ' ')" \
  --with-backends=" $first,  $second "
accepts "the counters that are always built, alone" "$last " --with-backends=default-zero
accepts "all, by the option without a list" "$usual" --with-backends
without=$(echo "$usual" | tr ' ' '\n' | grep -vx -e "$first" -e "$second" | tr '\n' ' ' | sed 's/^ *//;s/  *$/ /')
accepts "all but two" "$without" --with-excluded-backends="$first,$second"
says "the summary gives the counters that were left out" "^    $first: left out by --with-excluded-backends\$"
accepts "all left out except those that are always built" "$last " \
  --with-excluded-backends="$(tr '\n' ',' <"$work/all" | sed 's/,$//')"
for name in $last; do
  says "a warning that $name cannot be left out" "WARNING: $name is always built"
done

refuses "unknown counter" amd64-tcs --with-backends=amd64-tcs
refuses "unknown counter left out" amd64-tcs --with-excluded-backends=amd64-tcs
refuses "counter of another target" "$foreign" --with-backends="$first,$foreign"
refuses "pattern instead of a name" 'counter \*' --with-backends='*'
refuses "empty list" "the list is empty" --with-backends=
refuses "list of separators only" "the list is empty" --with-backends=' , '
refuses "no list of counters to leave out" "needs a list" --with-excluded-backends
refuses "no counters at all" "--with-excluded-backends=LIST" --without-backends
# Autoconf supports a value for --with, but not for --without.
refuses "list in the wrong option" backends --without-backends="$first"
refuses "counter both wanted and left out" "$first" --with-backends="$first" \
  --with-excluded-backends="$first"

id=$(echo "$first" | tr - _)
forget "cpucycles_cv_backend_$id"
accepts "preset by the packager" "$(echo "$usual" | sed "s/$first //")" "cpucycles_cv_backend_$id=no"
says "the summary says that it was preset" "^    $first: cpucycles_cv_backend_$id is preset to no\$"
refuses "counter wanted and preset to no" "$first" --with-backends="$first" "cpucycles_cv_backend_$id=no"
forget none # the cache contains the preset

# With a space in these directories, Libtool or pkg-config would fail later.
for option in --prefix --exec-prefix --libdir --bindir --includedir; do
  refuses "a space in $option" 'Libtool .* spaces' "$option=/usr/with space"
done
mkdir "$work/with space"
! (cd "$work/with space" && "$source/configure" -q >../out 2>&1) ||
  wrong "a space in the build directory: accepted"
says "a space in the build directory" 'error: Libtool .* spaces'
accepts "a space in a directory that Libtool does not see" "$usual" --mandir='/usr/with space'

# A mistake in a probe is an error if its counter is requested. probes.sh distinguishes
# mistakes from the probe's own #error.
forget "cpucycles_cv_backend_$id"
echo 'int mistake = ;' >>"$source/probes/$first.c"
refuses "mistake in a probe" "$first" --with-backends="$first"
sed -i.bak '$d' "$source/probes/$first.c"
forget none

# A mistake in a backend is a build error, even though its probe passes.
echo 'int mistake = ;' >>"$source/backends/$first.c"
accepts "configure ignores a mistake in a backend" "$usual"
! builds "backends/$first.lo" >"$work/out" 2>&1 || wrong "mistake in a backend: the build succeeds"
says "mistake in a backend" "/backends/$first\.c:[0-9:]* error: "
sed -i.bak '$d' "$source/backends/$first.c"

# A cross build with headers of x86 in the include path, which gcc-multilib and zig put there.
foreign_cc=
for arch in aarch64 riscv64 powerpc alpha s390x; do
  ! command -v $arch-linux-gnu-gcc >/dev/null || foreign_cc=$arch-linux-gnu-gcc
done
if [ -n "$foreign_cc" ]; then
  mkdir -p "$work/x86/sys/platform"
  echo '#define __cpuid_count(leaf, subleaf, a, b, c, d) __asm__("cpuid" : : "r"(a = b = c = d = leaf))' \
    >"$work/x86/cpuid.h"
  cat >"$work/x86/sys/platform/x86.h" <<'end'
enum { CPUID_INDEX_80000008 };
struct cpuid_feature { unsigned int cpuid_array[4]; };
const struct cpuid_feature *__x86_get_cpuid_feature_leaf(unsigned int);
end
  rm -f "$work/cache"
  configure --disable-shared --host="${foreign_cc%-gcc}" CPPFLAGS="-I$work/x86" PKG_CONFIG=false ||
    wrong "headers of x86: $(cat "$work/out")"
  passes "headers of x86 in the include path of $foreign_cc" builds libcpucycles.la
else
  skipped "headers of x86 in the include path: no cross compiler is installed"
fi

# CFLAGS and LDFLAGS contain the user's flags and no others.
rm -f "$work/cache"
configure CFLAGS='-O0 -DMINE' LDFLAGS=-L/mine CC="${CC:-cc}" || wrong "flags: refused"
passes 'CFLAGS are changed' grep -qx 'CFLAGS = -O0 -DMINE' "$work/build/Makefile"
passes 'LDFLAGS are changed' grep -qx 'LDFLAGS = -L/mine' "$work/build/Makefile"

# Where the linker has no version maps, a plain list exports the same symbols.
variable=$(sed -n 's/^\(ax_cv_check_ldflags__[^=]*version_script[^=]*\)=.*/\1/p' "$work/build/config.log" | head -n 1)
forget "$variable"
configure --disable-static "$variable=no" || wrong "no version maps: refused"
passes "no version maps" builds libcpucycles.la libperfex.la
passes "no version maps: symbols" env -C "$work/build" srcdir="$source" builddir=. \
  sh "$source/tests/scripts/symbols.sh"
! grep '^[^#]*version-script=' "$work/build/Makefile" || wrong "no version maps: one is used"

# Simulates a compiler that knows only C99: _Thread_local does not compile.
rm -f "$work/cache"
refuses "no thread-local storage" "no C11 thread-local storage" CC="${CC:-cc} -D_Thread_local=missing"
forget none

# libperfex is built by default, and can be left out. If libperfex is asked for and cannot be built,
# this is an error. If libperfex is left out, the summary gives the reason.
has() { grep -q "^#define HAVE_$1 1\$" "$work/build/config.h"; }
configure || wrong "libperfex: refused"
with=$(has PERFEX && echo yes || :)
! grep -q 'libperfex is not built: left out' "$work/out" || wrong "libperfex is left out by default"
accepts "libperfex left out" "$usual" --disable-perfex
! has PERFEX || wrong "--disable-perfex: libperfex is built"
says "the summary says that libperfex was left out" 'libperfex is not built: left out by --disable-perfex$'
[ -z "$with" ] || accepts "libperfex asked for" "$usual" --enable-perfex
forget cpucycles_cv_perfex
refuses "libperfex asked for where its probe fails" "libperfex cannot be built here" --enable-perfex \
  cpucycles_cv_perfex=no
accepts "libperfex where its probe fails" "$usual" cpucycles_cv_perfex=no
! has PERFEX || wrong "libperfex is built where its probe fails"
rm -f "$work/cache"

# With kernel headers before 3.14, which lack some names, the library builds without perf events,
# and runs. It also builds without libperfex, which needs perf events.
mkdir -p "$work/old/linux"
cat >"$work/old/linux/perf_event.h" <<'end'
#include_next <linux/perf_event.h>
#undef PERF_FLAG_FD_CLOEXEC
#define cap_user_rdpmc cap_usr_rdpmc
end
if has PERF_EVENTS; then
  configure --disable-static CPPFLAGS="-I$work/old" || wrong "old kernel headers: refused"
  passes "old kernel headers" builds
  [ ! -f "$work/build/libperfex.la" ] || wrong "old kernel headers: libperfex is built"
  passes "old kernel headers: the tool" "$work/build/cpucycles-info/cpucycles-info"
fi
rm -f "$work/cache"

# A build of static libraries only, and, with BSD make, a build of shared libraries only, with
# clients. Both make the same manual. The variables of an outer make would change the options of the
# inner make.
make=make
for disabled in shared static; do
  configure --disable-$disabled --prefix="$work/installed-$disabled" LDFLAGS=-Wl,-Bsymbolic ||
    wrong "--disable-$disabled: refused"
  (unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR && cd "$work/build" && $make -s install &&
    $make -s installcheck && $make -s uninstall &&
    ! find "$work/installed-$disabled" -name '*cpucycles*' | grep .) >"$work/out" 2>&1 ||
    wrong "--disable-$disabled: $(cat "$work/out")"
  cp "$work/build/lib/cpucycles-internals.7" "$work/$disabled.7"
  if command -v bmake >/dev/null; then make=bmake; else skipped 'no bmake'; fi
done
cmp "$work/static.7" "$work/shared.7" || wrong "bmake makes another manual"

# Although LDFLAGS contain -Bsymbolic, the library changes the pointer in a program that copies it.
cat >"$work/copy.c" <<'end'
#include <cpucycles.h>
int main(void) { long long (*first)(void) = cpucycles; cpucycles(); return cpucycles == first; }
end
${CC:-cc} -I"$source/include" "$work/copy.c" -o "$work/copy" -L"$work/build/.libs" -lcpucycles
passes "-Bsymbolic: programs keep the first value of cpucycles" \
  env LD_LIBRARY_PATH="$work/build/.libs" "$work/copy"
exit $failed
