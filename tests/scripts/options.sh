#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs options.py, which tests the tool's options and plots. Sources report.sh, which does this.

. "${srcdir:-.}/tests/scripts/report.sh"
