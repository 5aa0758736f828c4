#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs options.py, which tests the tool's options and plots: report.sh runs the file whose name is
# that of this script, with .py.

. "${srcdir:-.}/tests/scripts/report.sh"
