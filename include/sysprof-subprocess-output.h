// SPDX-License-Identifier: GPL-3.0-or-later

/* SysprofSubprocessOutput: the output of a command, as an embedded file. */

#pragma once

#include "sysprof-instrument.h"
#include "sysprof-recording-phase.h"

G_BEGIN_DECLS

#define SYSPROF_TYPE_SUBPROCESS_OUTPUT (sysprof_subprocess_output_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSubprocessOutput,
                            sysprof_subprocess_output,
                            SUBPROCESS_OUTPUT,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Does nothing until a command and a file name are set. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_subprocess_output_new (void);

/* The phase in which the command runs. Property "phase", default
 * SYSPROF_RECORDING_PHASE_AUGMENT. */
SYSPROF_AVAILABLE_IN_ALL
SysprofRecordingPhase sysprof_subprocess_output_get_phase (SysprofSubprocessOutput *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_subprocess_output_set_phase (SysprofSubprocessOutput *self,
                                          SysprofRecordingPhase phase);

/* Name of the embedded file. Property "stdout-path". *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_subprocess_output_get_stdout_path (SysprofSubprocessOutput *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_subprocess_output_set_stdout_path (SysprofSubprocessOutput *self,
                                                const char *stdout_path);

/* The working directory of the command; NULL is that of this process. Property "command-cwd".
 * *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_subprocess_output_get_command_cwd (SysprofSubprocessOutput *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_subprocess_output_set_command_cwd (SysprofSubprocessOutput *self,
                                                const char *command_cwd);

/* The command; its first word is looked up in PATH. Property "command-argv". *(none, nullable)*
 */
SYSPROF_AVAILABLE_IN_ALL
const char *const *sysprof_subprocess_output_get_command_argv (SysprofSubprocessOutput *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_subprocess_output_set_command_argv (SysprofSubprocessOutput *self,
                                                 const char *const *command_argv);

/* The environment of the command; NULL is that of this process. Property "command-environ".
 * *(none, nullable)* */
SYSPROF_AVAILABLE_IN_ALL
const char *const *
sysprof_subprocess_output_get_command_environ (SysprofSubprocessOutput *self);
SYSPROF_AVAILABLE_IN_ALL
void sysprof_subprocess_output_set_command_environ (SysprofSubprocessOutput *self,
                                                    const char *const *command_environ);

G_END_DECLS
