# SPDX-License-Identifier: 0BSD OR MIT
# Read by dropin.sh and inline.sh: links a client in each way that this build permits, and runs it
# with this library. The script defines compile KIND OPTION..., which compiles and links $client as
# KIND, pie or no-pie, with the linker options.

. "$srcdir/tests/scripts/begin.sh"
version=$(sed -n 's/^#define PACKAGE_VERSION "\(.*\)"/\1/p' "$builddir/config.h")
programs=$srcdir/tests/programs built=$builddir/.libs client=$work/client$EXEEXT

# client WAY KIND OPTION...: expects the client, linked in this way, to count and to print the
# version of this library. $said is its output.
client() {
  way=$1
  shift
  compile "$@" || { wrong "$way: does not build"; return; }
  said=$(LD_LIBRARY_PATH="$built${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" $LOG_COMPILER "$client") ||
    { wrong "$way: exit status $?: $said"; return; }
  case $said in
    "$version "*) echo "$script: $way: $said" ;;
    *) wrong "$way: does not run with this library: $said" ;;
  esac
}

# clients SYMBOL DIRECTORY...: links the client in each way; with the shared libraries of these
# directories position-independent, and with a copy relocation of SYMBOL
clients() {
  symbol=$1
  shift
  [ -f "$built/libcpucycles.so.1" ] || set --
  for directory; do
    client "position-independent with $directory" pie -pie -L"$directory" -lcpucycles
    client "at a fixed address with $directory" no-pie -no-pie -L"$directory" -lcpucycles
    ! readelf -hW "$client" 2>/dev/null | grep -q 'Machine:.*X86-64' ||
      readelf -rW "$client" | grep -q "R_X86_64_COPY.*$symbol" || wrong "no copy relocation was made"
  done
  [ ! -f "$built/libcpucycles.dll.a" ] || client DLL no-pie "$built/libcpucycles.dll.a"
  [ -f "$built/libcpucycles.a" ] || { skipped "no static library was built"; return; }
  # words are meant to split
  # shellcheck disable=SC2086
  client 'static library' pie "$built/libcpucycles.a" $PTHREAD_LIBS
  # shellcheck disable=SC2086
  if echo 'int main(void) { return 0; }' |
    $CC $CFLAGS -x c - -static -o $work/try $LDFLAGS 2>/dev/null && $LOG_COMPILER $work/try; then
    client 'static program' no-pie -static "$built/libcpucycles.a" $PTHREAD_LIBS
  else
    skipped "static programs: this system or emulator runs none"
  fi
}
