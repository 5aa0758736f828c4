# SPDX-License-Identifier: 0BSD OR MIT
# Counts cycles in Python, with ctypes: python3 cpucycles.py
# The variable "cpucycles" of the library is not a function, so this calls cpucycles_inline().

import ctypes
import sys

NAMES = {"darwin": "libcpucycles.1.dylib", "win32": "libcpucycles-1.dll"}


class Counter(ctypes.Structure):  # struct cpucycles_counter_info
    _fields_ = [(name, ctypes.c_char_p) for name in
                ("name", "summary", "kind", "scope", "unit", "count_unit")] + [
        ("width", ctypes.c_int), ("state", ctypes.c_int), ("score", ctypes.c_longlong),
        ("scaling", ctypes.c_double), ("reason", ctypes.c_char_p),
        ("explanation", ctypes.c_char_p), ("error_number", ctypes.c_int),
        ("signal_number", ctypes.c_int), ("remedy", ctypes.c_char_p),
        ("smallest_step", ctypes.c_longlong)]


library = ctypes.CDLL(NAMES.get(sys.platform, "libcpucycles.so.1"))
cycles = library.cpucycles_inline
cycles.restype = ctypes.c_longlong
library.cpucycles_selected.restype = ctypes.POINTER(Counter)


def since(begin):
    """Subtracts modulo 2^64. If the counter stepped back, the result is 0."""
    difference = (cycles() - begin) & ((1 << 64) - 1)
    return 0 if difference >> 63 else difference


if __name__ == "__main__":
    times = []
    for _ in range(101):
        start = cycles()
        sum(range(10000))
        times.append(since(start))
    counter = library.cpucycles_selected().contents
    print(f"sum: {sorted(times)[50]} {counter.count_unit.decode()}, {counter.name.decode()}")
