/* SPDX-License-Identifier: 0BSD OR MIT */
/* The events in perfex-events(7) or, with PFX_MANUAL_NONE, the numbers without an event, or, with
   PFX_MANUAL_GENERIC, the names without a number. The preprocessor replaces the rows; @ begins a
   line. */

#if defined PFX_MANUAL_GENERIC
#define PFX_EVENT(number, text, name, also, type, config, difference, arm, intel, amd)
#define PFX_NONE(number, text)
#define PFX_GENERIC(name, also, type, config) .Li name , also ;@
#elif defined PFX_MANUAL_NONE
#define PFX_EVENT(number, text, name, also, type, config, difference, arm, intel, amd)
#define PFX_NONE(number, text) .It number@text@
#else
#define PFX_EVENT(number, text, name, also, type, config, difference, arm, intel, amd) \
  .It number@.Li name , also@.br@text.@difference@.br@Arm: arm;@Intel: intel;@AMD: amd.@
#define PFX_NONE(number, text)
#endif
#ifndef PFX_GENERIC
#define PFX_GENERIC(name, also, type, config)
#endif
#include "perfex/events.def"
