// SPDX-License-Identifier: GPL-3.0-or-later

/* Graphics hardware, as eglinfo and glxinfo describe it. Their output is embedded under their
 * names. */

#include "record/instrument.h"

static void
create_graphics_info (const InstrumentSelection *selection, GPtrArray *instruments)
{
  static const char *const programs[] = { "eglinfo", "glxinfo" };

  for (size_t i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      const char *const argv[] = { programs[i], NULL };
      SysprofInstrument *instrument = sysprof_subprocess_output_new ();

      sysprof_subprocess_output_set_command_argv (SYSPROF_SUBPROCESS_OUTPUT (instrument), argv);
      sysprof_subprocess_output_set_stdout_path (SYSPROF_SUBPROCESS_OUTPUT (instrument),
                                                 programs[i]);
      g_ptr_array_add (instruments, instrument);
    }
}

const InstrumentRow sysprof_graphics_info_row = {
  .by_default = INSTRUMENT_OPTIONAL,
  .options = { { "no-graphics-info", "Do not record the output of eglinfo and glxinfo",
                 .omits = true } },
  .manual = "Do not run eglinfo and glxinfo after the recording to record their output.",
  .create = create_graphics_info,
};
