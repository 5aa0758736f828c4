#!/bin/sh
# SPDX-License-Identifier: 0BSD OR MIT
# Runs options.py, which tests the tool's options and plots. Calls report.sh for this.

. "${srcdir:-.}/tests/scripts/report.sh"
