#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs options.py, which tests the tool's options and plots, as report.sh runs report.py.

. "${srcdir:-.}/tests/scripts/report.sh"
