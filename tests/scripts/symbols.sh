#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests, for both libraries, that the headers and the map have the same symbols, the headers and the
# manuals the same types, and the map and Debian's symbols file the same versions; that thread-local
# variables are few, and safe in signal handlers; that the shared libraries export the map's
# symbols, have the right name (on macOS also the right version), and need the C library only (on
# Windows, also kernel32; libperfex also libcpucycles). Tests libperfex only where the format is ELF.

set -eu
. "${srcdir:=.}/tests/scripts/begin.sh"
: "${READELF:=readelf}"
checked=0 out=$work/out

# matches EXPORTED NEEDED: expects the symbols of the map, and no needed library
matches() {
  equal "$library" "$1" "the map" "$mapped"
  [ -z "$2" ] || wrong "$library: it needs $(echo $2)"
  checked=1
}

# elf NAME: tests a shared library of this format. Returns 1 if it was not built.
elf() {
  library=$builddir/.libs/$1.so.1
  [ -f "$library" ] || library=$library.0 # OpenBSD's names have major and minor number
  [ -f "$library" ] || return 1
  $READELF -d "$library" >$out
  exported=$($NM -D --defined-only "$library" |
    awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
  matches "$exported" "$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' $out |
    grep -v -e '^libcpucycles\.so\.1$' -e '^libc\.' -e '^libpthread\.' -e '^ld-linux' \
      -e '^ld[0-9]*\.so\.' -e '^librt\.' -e '^libthr\.' -e '^lib[a-z]*san\.' || :)"
  case $library in
    *.1.0) ;; # libtool sets no SONAME on OpenBSD
    *) grep -q "SONAME.*\[$1\.so\.1\]" $out || wrong "the SONAME is not $1.so.1" ;;
  esac
  ! grep -e TEXTREL -e SYMBOLIC $out || wrong "$1: text relocations, or -Bsymbolic"
  # With glibc, thread-local variables are initial-exec, and few, as sys/thread-local.h explains. All
  # other models leave one of the relocations below (on arm64, TLSDESC), or call __tls_get_addr.
  grep -q 'NEEDED.*\[libc\.so\.6' $out || return 0
  ! $NM -D "$library" | grep '__tls_get_addr' || wrong "$1 calls __tls_get_addr"
  ! $READELF -rW "$library" | grep -e DTPMOD -e DTPREL -e DTPOFF -e TLSDESC ||
    wrong "$1 has thread-local variables that are not initial-exec"
  size=$($READELF -lW "$library" | awk '$1 == "TLS" { print $6 }')
  [ $((${size:-0})) -le 256 ] || wrong "$1 has $(($size)) bytes of thread-local variables"
}

# one_line FILE...: joins the lines of each declaration or inline function that begins in column 1
one_line() {
  awk '/^(extern|static __inline) .*,$/ { held = $0; next }
    held { sub(/^ */, " "); held = held $0; if (/,$/) next; $0 = held; held = "" }
    { print }' "$@"
}

# agree LIBRARY HEADERS MANUALS: compares the header's declared names, $declared, with the map, the
# declarations of the headers with those of the manuals, and Debian's symbols file with the map
agree() {
  map=$srcdir/${3%%/*}/$1.map packed=contrib/debian/${1}1.symbols
  mapped=$(sed -n '/global:/,/local:/s/^ *\([a-z_]*\);$/\1/p' "$map" | sort)
  equal "the header" "$declared" "$map" "$mapped"
  headers=$(cd "$srcdir/include" && one_line $2 | sed -n -e 's/^extern \(.*)\);$/\1/p' \
    -e '/_bench_nothing(/d' -e 's/^static __inline \(void .*)\)$/\1/p' | sort)
  manual=$(cd "$srcdir" && awk '/^\.Sh/ { on = $2 == "SYNOPSIS" }
    on && sub(/^\.Vt extern /, "") { sub(/;$/, ""); print }
    on && sub(/^\.Ft /, "") { gsub(/"/, ""); type = $0 (/\*$/ ? "" : " ") }
    on && sub(/^\.Fo /, "") { call = $0 "("; next }
    on && sub(/^\.Fa /, "") { gsub(/"/, ""); call = call (call ~ /\($/ ? "" : ", ") $0 }
    on && /^\.Fc/ { print type call ")" }
    on && sub(/^\.Fn /, "") { name = $1; sub(/^[^ ]* /, ""); gsub(/" "/, ", "); gsub(/"/, "")
      if (name != "cpucycles_bench_keep") print type name "(" $0 ")" }' $3 | sort -u)
  equal "the headers" "$headers" "$3" "$manual"
  versioned=$(awk '/^[A-Z_0-9]+ [{]$/ { node = $1; print node "@" node }
    /^ *[a-z_]*;$/ { sub(/;/, ""); print $1 "@" node }' "$map" | sort)
  symbols=$(sed -n 's/^ \([^ ]*\) 0~[0-9][0-9]*$/\1/p' "$srcdir/$packed" | sort)
  equal "$map" "$versioned" "$packed" "$symbols"
}
declared=$(one_line "$srcdir/include/perfex.h" |
  sed -n 's/^extern [a-z_ ]*[ *]\([a-z_]*\)(.*);$/\1/p')
# The names with an underscore are for Fortran, which has no function of groups.
declared=$(for name in $declared; do
  case $name in
    perfex_open | perfex_read | perfex_group_size | perfex_close | perfex_why) echo "$name" ;;
    perfex_bench | perfex_print_bench) echo "$name" ;;
    *) printf '%s\n%s_\n' "$name" "$name" ;;
  esac
done | sort)
agree libperfex perfex.h perfex/libperfex.3
elf libperfex || :
headers='cpucycles.h cpucycles/inline.h cpucycles/bench.h'
declared=$(cd "$srcdir/include" && one_line $headers |
  sed -n -e 's/.*extern .*(\*\(cpucycles[a-z_]*\))(void);.*/\1/p' \
    -e 's/.*extern .*[ *]\(cpucycles[a-z_]*\)(.*);.*/\1/p' \
    -e 's/^extern struct [a-z_]* \(cpucycles[a-z_]*\);.*/\1/p' | sort)
agree libcpucycles "$headers" 'lib/cpucycles.3.in lib/cpucycles-bench.3'
for name in cpucycles cpucycles_implementation cpucycles_version cpucycles_persecond cpucycles_tracesetup; do
  echo "$mapped" | grep -qx "$name" || wrong "$name belongs to the drop-in interface, but is not in the map"
done

if elf libcpucycles; then
  $NM -D --defined-only "$library" | grep -q ' [DBGS] cpucycles\(@\|$\)' || wrong "cpucycles is not a data symbol"
  $READELF --dyn-syms -W "$library" >$out
  for name in cpucycles cpucycles_inline_state; do
    grep " $name\\(@.*\\)*\$" $out | grep -q DEFAULT || wrong "$name does not have default visibility"
  done
  # Programs may have a copy relocation of cpucycles_inline_state, so its size is fixed.
  grep -q '^ *[0-9]*: [0-9a-f]* *16 OBJECT .* cpucycles_inline_state\(@.*\)*$' $out ||
    wrong "cpucycles_inline_state does not have 16 bytes"
fi

library=$builddir/.libs/libcpucycles-1.dll
if [ -f "$library" ]; then
  $OBJDUMP -p "$library" >$out
  # output of GNU's objdump, and of LLVM's
  exported=$(sed -n -e '/^\[Ordinal.*Table/,/^$/s/^[[:blank:]][[:blank:]]*\[.*[[:blank:]]//p' \
    -e '/^Export Table:/,/^$/s/^ *[0-9][0-9]* *0x[0-9a-f]* *//p' $out | sort)
  matches "$exported" "$(sed -n 's/^[[:blank:]]*DLL Name: //p' $out |
    grep -vi -e '^kernel32\.dll$' -e '^msvcrt\.dll$' -e '^ucrtbase\.dll$' -e '^api-ms-win-crt-' || :)"
  # Clients must get the pointer itself, not a function that jumps to the pointer.
  $NM "$builddir/.libs/libcpucycles.dll.a" | grep -q ' T cpucycles$' &&
    wrong "cpucycles is not imported as data"
fi

library=$builddir/.libs/libcpucycles.1.dylib
if [ -f "$library" ]; then
  # On macOS, C names begin with an underscore. The two deleted names come from zig's linker.
  exported=$($NM -gU "$library" | sed -e 's/.* //' -e '/^___dso_handle$/d' \
    -e '/^__mh_dylib_header$/d' -e 's/^_//' | sort)
  $OBJDUMP --macho --dylibs-used "$library" >$out
  # The first line is the library itself. A program that was linked with an older library, with
  # compatibility version 1, loads this library.
  grep -q '/libcpucycles\.1\.dylib (compatibility version 2\.0\.0, current version 2\.0\.0)' $out ||
    wrong "name and versions are $(sed -n 2p $out)"
  matches "$exported" \
    "$(sed -e 1,2d -e 's/^[[:blank:]]*\([^ ]*\) .*/\1/' $out | grep -v '/libSystem\.B\.dylib$' || :)"
fi
[ $checked = 1 ] || skipped "no shared library was built"
exit $failed
