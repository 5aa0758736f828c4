# SPDX-License-Identifier: 0BSD OR MIT
# The tool.

bin_PROGRAMS += cpucycles-info/cpucycles-info
cpucycles_info_cpucycles_info_SOURCES = cpucycles-info/cpucycles-info.c
cpucycles_info_cpucycles_info_LDADD = libcpucycles.la
dist_man_MANS += cpucycles-info/cpucycles-info.1
