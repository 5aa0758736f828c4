/* SPDX-License-Identifier: 0BSD OR MIT */
/* The events in perfex-events(7) or, with PFX_MANUAL_NONE, the numbers without an event. The
   preprocessor replaces the rows; @ begins a line. */

#ifdef PFX_MANUAL_NONE
#define PFX_EVENT(number, text, name, also, type, config, difference, arm, intel, amd)
#define PFX_NONE(number, text) .It number@text@
#else
#define PFX_EVENT(number, text, name, also, type, config, difference, arm, intel, amd) \
  .It number@.Li name , also@.br@text.@difference@.br@Arm: arm;@Intel: intel;@AMD: amd.@
#define PFX_NONE(number, text)
#endif
#define PFX_GENERIC(name, also, type, config)
#include "perfex/events.def"
