#!/usr/bin/env python3
# SPDX-License-Identifier: 0BSD OR MIT
# Prints line and branch coverage from gcov: coverage.py SOURCE PERCENT DIRECTORY..., in the build
# directory. Prints a row for each file of these directories, with the lines that were not reached.
# Exits with 1 if less than PERCENT of all lines were reached. A file that a suite compiles with
# other headers is in several objects, so a line counts as reached if one of the objects reached it.

import glob
import json
import os
import subprocess
import sys

source, least, directories = os.path.realpath(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
lines = {}  # (file, line): executions
branches = {}  # (file, line): executions per branch; objects with fewer branches there are ignored
notes = sorted(glob.glob('**/*.gcno', recursive=True) + glob.glob('**/.libs/*.gcno', recursive=True))
if not notes:
    sys.exit('coverage: no object was built with --coverage')

for note in notes:
    gcov = subprocess.run(['gcov', '--json-format', '--stdout', '--branch-probabilities', note],
                          capture_output=True, check=True, text=True)
    for report in gcov.stdout.splitlines():
        for file in json.loads(report)['files']:
            path = os.path.relpath(os.path.realpath(file['file']), source)
            if os.path.dirname(path) not in directories or not path.endswith(('.c', '.h')):
                continue
            # gcov lists a line of a static inline function once for each function it is part of
            for line in file['lines']:
                place = path, line['line_number']
                lines[place] = lines.get(place, 0) + line['count']
                counts = [branch['count'] for branch in line['branches']]
                known = branches.get(place, [])
                if len(known) == len(counts):
                    branches[place] = [a + b for a, b in zip(known, counts)]
                elif len(known) < len(counts):
                    branches[place] = counts


def percent(reached, of):
    return f'{100 * reached / of if of else 100:5.1f} % of {of:4}'


def say(name, places):
    taken = [count for place in places for count in branches.get(place, [])]
    missed = [str(line) for file, line in places if not lines[file, line]]
    print(f'coverage: {name:24} lines {percent(len(places) - len(missed), len(places))}, '
          f'branches {percent(sum(count > 0 for count in taken), len(taken))}', end='')
    print(f'; not reached: {" ".join(missed)}' if missed and name != 'total' else '')
    return 100 * (len(places) - len(missed)) / max(len(places), 1)


for file in sorted({file for file, line in lines}):
    say(file, sorted(place for place in lines if place[0] == file))
whole = say('total', sorted(lines))
if whole < least:
    parts = ' and '.join(directories)
    print(f'coverage: less than {least:g} % of the lines in {parts} were reached')
    sys.exit(1)
