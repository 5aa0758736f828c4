#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Tests, for both libraries, that the headers and the map have the same symbols, the headers and the
# manual the same types, and the map and Debian's symbols file the same versions; that thread-local
# variables are few, and safe in signal handlers; that libcpucycles as a shared library exports the
# map's symbols, has the right name (on macOS also the right version), and needs the C library only
# (on Windows, also kernel32). perfex.sh tests libperfex as a shared library.

set -eu
: "${srcdir:=.}" "${builddir:=.}" "${NM:=nm}" "${OBJDUMP:=objdump}" "${READELF:=readelf}"
failed=0

wrong() { echo "symbols: $*"; failed=1; }

# agree LIBRARY HEADERS MANUAL: compares the header's declared names, $declared, with the map, the
# declarations of the header with those of the manual, and Debian's symbols file with the map
agree() {
  map=$srcdir/${3%/*}/$1.map packed=contrib/debian/${1}1.symbols
  mapped=$(sed -n '/global:/,/local:/s/^ *\([a-z_]*\);$/\1/p' "$map" | sort)
  [ -n "$declared" ] && [ "$declared" = "$mapped" ] ||
    wrong "header: $(echo $declared); map: $(echo $mapped)"
  headers=$(cd "$srcdir/include" && sed -n 's/^extern \(.*)\);$/\1/p' $2 | sort)
  manual=$(awk '/^\.Sh/ { on = $2 == "SYNOPSIS" }
    on && sub(/^\.Vt extern /, "") { sub(/;$/, ""); print }
    on && sub(/^\.Ft /, "") { gsub(/"/, ""); type = $0 (/\*$/ ? "" : " ") }
    on && sub(/^\.Fn /, "") { name = $1; sub(/^[^ ]* /, ""); gsub(/" "/, ", "); gsub(/"/, "")
      print type name "(" $0 ")" }' "$srcdir/$3" | sort -u)
  [ "$headers" = "$manual" ] || wrong "headers: $headers; $3: $manual"
  versioned=$(awk '/^[A-Z_0-9]+ [{]$/ { node = $1; print node "@" node }
    /^ *[a-z_]*;$/ { sub(/;/, ""); print $1 "@" node }' "$map" | sort)
  symbols=$(sed -n 's/^ \([^ ]*\) 0~[0-9][0-9]*$/\1/p' "$srcdir/$packed" | sort)
  [ -n "$versioned" ] && [ "$versioned" = "$symbols" ] ||
    wrong "map: $(echo $versioned); $packed: $(echo $symbols)"
}
declared=$(sed -n 's/^extern [a-z_ ]*[ *]\([a-z_]*\)(.*);$/\1/p' "$srcdir/include/perfex.h")
# The names with an underscore are for Fortran, which has no function of groups.
declared=$(for name in $declared; do
  case $name in
    perfex_open | perfex_read | perfex_close | perfex_why) echo "$name" ;;
    *) printf '%s\n%s_\n' "$name" "$name" ;;
  esac
done | sort)
agree libperfex perfex.h perfex/libperfex.3
declared=$(sed -n -e 's/.*extern .*(\*\(cpucycles[a-z_]*\))(void);.*/\1/p' \
  -e 's/.*extern .*[ *]\(cpucycles[a-z_]*\)([a-z ]*);.*/\1/p' \
  -e 's/^extern struct [a-z_]* \(cpucycles[a-z_]*\);.*/\1/p' \
  "$srcdir/include/cpucycles.h" "$srcdir/include/cpucycles/inline.h" | sort)
agree libcpucycles 'cpucycles.h cpucycles/inline.h' lib/cpucycles.3.in
for name in cpucycles cpucycles_implementation cpucycles_version cpucycles_persecond cpucycles_tracesetup; do
  echo "$mapped" | grep -qx "$name" || wrong "$name belongs to the drop-in interface, but is not in the map"
done

checked=0
library=$builddir/.libs/libcpucycles.so.1
[ -f "$library" ] || library=$library.0 # OpenBSD's names have major and minor number
if [ -f "$library" ]; then
  checked=1
  exported=$($NM -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
  [ "$exported" = "$mapped" ] || wrong "exported: $(echo $exported); map: $(echo $mapped)"
  $NM -D --defined-only "$library" | grep -q ' [DBGS] cpucycles\(@\|$\)' || wrong "cpucycles is not a data symbol"
  $READELF -d "$library" >symbols.tmp
  case $library in
    *.1.0) ;; # libtool sets no SONAME on OpenBSD
    *) grep -q 'SONAME.*\[libcpucycles\.so\.1\]' symbols.tmp || wrong "the SONAME is not libcpucycles.so.1" ;;
  esac
  needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' symbols.tmp |
    grep -v -e '^libc\.' -e '^libpthread\.' -e '^ld-linux' -e '^ld[0-9]*\.so\.' -e '^librt\.' \
      -e '^libthr\.' -e '^lib[a-z]*san\.' || :)
  [ -z "$needed" ] || wrong "the library needs $(echo $needed)"
  grep -q TEXTREL symbols.tmp && wrong "the library has text relocations"
  grep -q 'SYMBOLIC' symbols.tmp && wrong "the library is linked with -Bsymbolic"
  $READELF --dyn-syms -W "$library" >symbols.tmp
  for name in cpucycles cpucycles_inline_state; do
    grep " $name\\(@.*\\)*\$" symbols.tmp | grep -q DEFAULT || wrong "$name does not have default visibility"
  done
  # Programs may have a copy relocation of cpucycles_inline_state, so its size is fixed.
  grep -q '^ *[0-9]*: [0-9a-f]* *16 OBJECT .* cpucycles_inline_state\(@.*\)*$' symbols.tmp ||
    wrong "cpucycles_inline_state does not have 16 bytes"
  rm -f symbols.tmp
fi

library=$builddir/.libs/libcpucycles-1.dll
if [ -f "$library" ]; then
  checked=1
  $OBJDUMP -p "$library" >symbols.tmp
  # output of GNU's objdump, and of LLVM's
  exported=$(sed -n -e '/^\[Ordinal.*Table/,/^$/s/^[[:blank:]][[:blank:]]*\[.*[[:blank:]]//p' \
    -e '/^Export Table:/,/^$/s/^ *[0-9][0-9]* *0x[0-9a-f]* *//p' symbols.tmp | sort)
  [ "$exported" = "$mapped" ] || wrong "exported: $(echo $exported); map: $(echo $mapped)"
  needed=$(sed -n 's/^[[:blank:]]*DLL Name: //p' symbols.tmp |
    grep -vi -e '^kernel32\.dll$' -e '^msvcrt\.dll$' -e '^ucrtbase\.dll$' -e '^api-ms-win-crt-' || :)
  [ -z "$needed" ] || wrong "it needs $(echo $needed)"
  rm -f symbols.tmp
  # Clients must get the pointer itself, not a function that jumps to the pointer.
  $NM "$builddir/.libs/libcpucycles.dll.a" | grep -q ' T cpucycles$' &&
    wrong "cpucycles is not imported as data"
fi

library=$builddir/.libs/libcpucycles.1.dylib
if [ -f "$library" ]; then
  checked=1
  # On macOS, C names begin with an underscore. The two deleted names come from zig's linker.
  exported=$($NM -gU "$library" | sed -e 's/.* //' -e '/^___dso_handle$/d' \
    -e '/^__mh_dylib_header$/d' -e 's/^_//' | sort)
  [ "$exported" = "$mapped" ] || wrong "exported: $(echo $exported); map: $(echo $mapped)"
  $OBJDUMP --macho --dylibs-used "$library" >symbols.tmp
  # The first line is the library itself. A program that was linked with an older library, with
  # compatibility version 1, loads this library.
  grep -q '/libcpucycles\.1\.dylib (compatibility version 2\.0\.0, current version 2\.0\.0)' symbols.tmp ||
    wrong "name and versions are $(sed -n 2p symbols.tmp)"
  needed=$(sed -e 1,2d -e 's/^[[:blank:]]*\([^ ]*\) .*/\1/' symbols.tmp | grep -v '/libSystem\.B\.dylib$' || :)
  [ -z "$needed" ] || wrong "it needs $(echo $needed)"
  rm -f symbols.tmp
fi
[ $checked = 1 ] || echo "symbols: skipped: no shared library was built"

# With glibc, thread-local variables are initial-exec, and few, as sys/thread-local.h explains. All
# other models leave one of the relocations below (on arm64, TLSDESC), or call __tls_get_addr.
for library in "$builddir/.libs/libcpucycles.so.1" "$builddir/.libs/libperfex.so.1"; do
  [ -f "$library" ] && $READELF -d "$library" | grep -q 'NEEDED.*\[libc\.so\.6' || continue
  $NM -D "$library" | grep -q '__tls_get_addr' && wrong "$library calls __tls_get_addr"
  $READELF -rW "$library" | grep -q -e DTPMOD -e DTPREL -e DTPOFF -e TLSDESC &&
    wrong "$library has thread-local variables that are not initial-exec"
  size=$($READELF -lW "$library" | awk '$1 == "TLS" { print $6 }')
  [ $((${size:-0})) -le 256 ] || wrong "$library has $(($size)) bytes of thread-local variables"
done
exit $failed
