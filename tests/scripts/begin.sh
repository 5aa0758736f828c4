# shellcheck shell=sh
# SPDX-License-Identifier: 0BSD OR MIT
# Read by scripts of "make check": the variables of AM_TESTS_ENVIRONMENT in tests/local.mk, which a
# script needs not have, an empty directory $work, and functions. A script ends with "exit $failed".

: "${srcdir:=.}" "${builddir:=.}" "${CC:=cc}" "${CPPFLAGS:=}" "${CFLAGS:=}" "${LDFLAGS:=}"
: "${NM:=nm}" "${OBJDUMP:=objdump}" "${EXEEXT:=}" "${LOG_COMPILER:=}" "${PTHREAD_LIBS:=}"
: "${TOOL:=$builddir/cpucycles-info/cpucycles-info}" "${CPUCYCLES_TEST_UNDER:=}"
: "${CPUCYCLES_TEST_WERROR:=}"
script=${0##*/}
script=${script%.sh}
work=$script.tmp
failed=0
trap 'rm -rf "$work"' EXIT
rm -rf $work
mkdir $work

wrong() { echo "$script: $*"; failed=1; }
skipped() { echo "$script: skipped: $*"; }
skip() { skipped "$*"; exit 77; }

# equal NAME LIST NAME LIST: expects the same lines, and names those that only one of the lists has
equal() {
  [ "$2" != "$4" ] || return 0
  only=$(echo "$2" | grep -vxF -e "$4" || :)
  missing=$(echo "$4" | grep -vxF -e "$2" || :)
  wrong "only in $1:" $only "; only in $3:" $missing "; or their order differs"
}
