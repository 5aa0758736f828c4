#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# compare-runs.sh OLD NEW [PERCENT]: compares two files of results, for example of a program before
# and after a change. A file has a line of cpucycles_bench_print_json() for each result, of at least
# three processes, better of five or more. cpucycles-bench(3), "Comparison of runs", describes it.
#
# Exit status: 1: a function became slower by more than PERCENT (2) and by more than the spread of
# its processes; else 2: a function was not judged, or a file or an argument is wrong; else 0.

set -eu

fail() { printf 'compare-runs: %s\n' "$*" >&2; exit 2; }

[ $# = 2 ] || [ $# = 3 ] || fail "usage: compare-runs.sh OLD NEW [PERCENT]"
percent=${3-2}
case $percent in
  *[!0-9.]* | *.*.* | . | '') fail "$percent is not a number of percent, such as 2 or 0.5" ;;
  *[1-9]*) ;;
  *) fail "the percent must be above 0" ;;
esac
[ -n "$(command -v jq)" ] || fail "jq is not installed"
for file in "$1" "$2"; do
  [ -r "$file" ] && [ ! -d "$file" ] || fail "$file cannot be read"
  [ -s "$file" ] || [ ! -f "$file" ] || fail "$file is empty"
done

# Prints the exit status, and a line for each function.
# shellcheck disable=SC2016
report=$(jq -n -r --rawfile old "$1" --rawfile new "$2" --arg old_name "$1" --arg new_name "$2" \
  --arg percent "$percent" '
  def is_number: type == "number" and . >= 0 and . < 1e15;
  def is_result:
    type == "object" and ([.name, .process, .counter, .unit, .mark] | all(type == "string"))
      and ([.cycles, .median, .samples] | all(is_number));
  def results($file):
    (split("\n") | if last == "" then .[:-1] else . end) as $lines
    | if $lines == [] then error("\($file) is empty") else . end
    # All lines first, because "try" of jq 1.6 also catches errors of what follows it.
    | [$lines[] | [try fromjson catch null] | .[0]] as $values
    | [range($values | length) as $i
      | $values[$i] | if is_result then . else
          error("\($file) is malformed: line \($i + 1) is not a result of cpucycles_bench_print_json()")
        end];

  def plain: explode | map(if . < 32 or (. > 126 and . < 160) then 63 else . end) | implode;
  def pad($width): . + (" " * ($width - length) // "");
  def pad_left($width): (" " * ($width - length) // "") + .;
  def fixed($digits):
    (. * ([range($digits)] | reduce .[] as $i (1; . * 10)) | round | tostring)
    | if length <= $digits then "0" * ($digits + 1 - length) + . else . end
    | .[:-$digits] + "." + .[-$digits:];

  def by_name: group_by(.name) | map({ key: .[0].name, value: . }) | from_entries;
  def middle: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
  # One number for each process.
  def by_process($member): [group_by(.process)[] | map(.[$member]) | middle];
  def rounded: . * 1e9 | round / 1e9; # 1.02 - 1 is above 0.02
  def spread: (max - min) / middle * 100 | rounded;

  def is_good: .mark == "" and .samples > 0;
  def left_out($file):
    map(select(is_good | not) | if .mark == "" then "no samples" else .mark end)
    | group_by(.) | map("\(.[0]) (\(length))")
    | if . == [] then empty else "left out of \($file): \(join(", "))" end;

  # Compares the results of one function. Returns status and text.
  def judge($old; $new; $percent):
    def not_judged: { status: 2, text: "not judged: \(.)" };
    ($old | map(select(is_good))) as $before | ($new | map(select(is_good))) as $after
    | ($before + $after) as $both
    | (if $both | all(.cycles > 0) then "cycles" else "median" end) as $member
    | if $old == [] then "\($old_name) does not have it" | not_judged
      elif $new == [] then "\($new_name) does not have it" | not_judged
      elif $before | by_process("samples") | length < 3 then
        "\($old_name) has unmarked results of fewer than 3 processes" | not_judged
      elif $after | by_process("samples") | length < 3 then
        "\($new_name) has unmarked results of fewer than 3 processes" | not_judged
      elif $member == "median" and ($both | map([.counter, .unit]) | unique | length > 1) then
        "core cycles are not known, and the counters differ" | not_judged
      elif $both | any(.[$member] == 0) then "a result is 0" | not_judged
      else
        ($before | by_process($member)) as $x | ($after | by_process($member)) as $y
        | ([$x, $y | spread] | max) as $spread
        | (($y | middle) / ($x | middle)) as $ratio
        | (($ratio - 1) * 100 | rounded) as $change
        | (if $member == "cycles" then "core cycles" else $both[0].unit end) as $unit
        | ("\($x | middle | fixed(1) | pad_left(12)) \($y | middle | fixed(1) | pad_left(12)) \($unit)"
          + "  ratio \($ratio | fixed(4))  spread \($spread | fixed(1)) %  ") as $numbers
        | if $change > $percent and $change > $spread then { status: 1, text: "slower" }
          elif $spread > $percent then
            "the processes differ by more than \($percent) %" | not_judged
          elif -$change > $percent then { status: 0, text: "faster" }
          else { status: 0, text: "same" } end
        | .text = $numbers + .text
      end;

  ($percent | tonumber) as $percent
  | ($old | results($old_name)) as $old | ($new | results($new_name)) as $new
  | ($old | by_name) as $olds | ($new | by_name) as $news
  | [$olds + $news | keys[] as $name
    | ($olds[$name] // []) as $before | ($news[$name] // []) as $after
    | judge($before; $after; $percent)
    | .text = (($name | plain | pad(32)) + " "
      + ([.text, ($before | left_out($old_name)), ($after | left_out($new_name))] | join("; ")))]
  | (map(.status) | if index(1) then 1 else max end), map(.text)[]' 2>&1) ||
  fail "$(printf '%s\n' "$report" | sed 's/^jq: error[^:]*: //; s/ *(not a string).*//')"

status=${report%%
*}
printf '%s\n' "${report#*
}" || exit 2
exit "$status"
