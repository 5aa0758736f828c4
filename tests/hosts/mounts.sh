# shellcheck shell=sh
# SPDX-License-Identifier: 0BSD OR MIT
# Included by hosts and scripts that change mounts. Only root can do so. Another user becomes root
# in a user namespace to change them; the command then runs in a second one, under the ID of this
# user.

# A condition that a shell tests before it mounts anything: it is in another mount namespace than
# this script. In a sandbox where unshare() succeeds without an effect, a mount would hide the
# machine's own directories.
own_mounts=$(readlink /proc/self/ns/mnt) || :
in_other_mounts="[ \"\$(readlink /proc/self/ns/mnt || echo '$own_mounts')\" != '$own_mounts' ]"

# with_mounts CHANGE COMMAND...: runs the command in a mount namespace, after CHANGE, which is a
# command of the shell.
with_mounts() {
  root='unshare --mount'
  again=
  if [ "$(id -u)" != 0 ]; then
    root='unshare --map-root-user --mount'
    again="unshare --map-user=$(id -u) --map-group=$(id -g)"
  fi
  if ! $root sh -c "$in_other_mounts && $1" 2>/dev/null; then
    echo 'mounts cannot be changed in a namespace'
    exit 77
  fi
  change="$in_other_mounts && $1"
  shift
  # shellcheck disable=SC2016,SC2086
  exec $root sh -c 'eval "$1" && shift && exec "$@"' sh "$change" $again "$@"
}
