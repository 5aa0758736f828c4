# SPDX-License-Identifier: 0BSD OR MIT
# The target cpucycles::perfex. cpucycles-config.cmake includes this file if it is installed.

cpucycles_add_target(perfex perfex .so .a)
set_property(TARGET cpucycles::perfex APPEND PROPERTY INTERFACE_LINK_LIBRARIES cpucycles::cpucycles)
