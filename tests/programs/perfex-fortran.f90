! SPDX-License-Identifier: 0BSD OR MIT
! Calls each function of libperfex from Fortran. perfex.sh checks the output.
program perfex_fortran
  implicit none
  integer*4 start_counters, read_counters, print_counters, print_costs, load_costs
  integer*4 perfex_event, perfex_print_table
  external start_counters, read_counters, print_counters, print_costs, load_costs
  external perfex_event, perfex_print_table
  integer*4 e0, e1, started, read
  integer*8 c0, c1
  character(len=100) name

  if (start_counters(0, 12) /= -1) stop 1
  name = 'instructions'
  e0 = 0
  e1 = perfex_event(name)
  if (e1 /= 15) stop 2
  if (perfex_event('nonesuch') /= -1) stop 3
  c0 = -1
  c1 = -1
  started = start_counters(e0, e1)
  read = read_counters(e0, c0, e1, c1)
  if (started < 0) then
    print '(a)', 'start_counters refused'
    if (read /= -1) stop 4
  else
    print '(a)', 'start_counters counts'
    if (read /= started .or. c0 <= 0 .or. c1 <= 0) stop 5
  end if
  c0 = 5000000000000_8
  c1 = 7
  if (print_counters(e0, c0, e1, c1) <= 0) stop 6
  name = 'perfex.tmp/costs'
  if (load_costs(name) <= 0) stop 7
  if (load_costs('/nonexistent/perfex.costs') /= -1) stop 8
  if (print_costs(e0, c0, e1, c1) <= 0) stop 9
  flush (6)
  if (perfex_print_table() <= 0) stop 10
end program
