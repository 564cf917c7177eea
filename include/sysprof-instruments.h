// SPDX-License-Identifier: GPL-3.0-or-later

/* The instruments that a profiler can record with. Each has a type, a constructor, and some
 * have properties. Installed headers with the name of one type include this one. */

#pragma once

#include "sysprof-instrument.h"
#include "sysprof-recording-phase.h"

G_BEGIN_DECLS

/* SysprofSampler: stacks of the whole system, or of selected processes, from perf events. */
#define SYSPROF_TYPE_SAMPLER (sysprof_sampler_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSampler, sysprof_sampler, SAMPLER, SYSPROF_AVAILABLE_IN_ALL)

/* Samples every CPU at 1 kHz: kernel and user stacks by frame pointer, with the mappings,
 * forks, exits and names that readers need. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_sampler_new (void);

/* SysprofUserSampler: stacks of programs that were built without frame pointers. */
#define SYSPROF_TYPE_USER_SAMPLER (sysprof_user_sampler_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofUserSampler,
                            sysprof_user_sampler,
                            USER_SAMPLER,
                            SYSPROF_AVAILABLE_IN_48)

/* Like sysprof_sampler_new(), but unwinds user stacks in copies of `stack_size` bytes (a
 * multiple of 8) per sample. *(full)* Since 48. */
SYSPROF_AVAILABLE_IN_48
SysprofInstrument *sysprof_user_sampler_new (guint stack_size);

/* SysprofTracer: function entry and exit of a program built with -finstrument-functions. */
#define SYSPROF_TYPE_TRACER (sysprof_tracer_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofTracer, sysprof_tracer, TRACER, SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_tracer_new (void);

/* SysprofMallocTracing: allocations and frees of the spawned program. */
#define SYSPROF_TYPE_MALLOC_TRACING (sysprof_malloc_tracing_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofMallocTracing,
                            sysprof_malloc_tracing,
                            MALLOC_TRACING,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_malloc_tracing_new (void);

/* SysprofSchedulerDetails: the time in which each thread ran, as marks. */
#define SYSPROF_TYPE_SCHEDULER_DETAILS (sysprof_scheduler_details_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSchedulerDetails,
                            sysprof_scheduler_details,
                            SCHEDULER_DETAILS,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records marks of the group "Scheduler", named "CPU n", one for each time that a thread ran.
 * *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_scheduler_details_new (void);

/* SysprofCpuUsage: the use and frequency of each CPU. */
#define SYSPROF_TYPE_CPU_USAGE (sysprof_cpu_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofCpuUsage,
                            sysprof_cpu_usage,
                            CPU_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records the counters "CPU Percent" and "CPU Frequency" five times a second, and a copy of
 * /proc/cpuinfo. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_cpu_usage_new (void);

/* SysprofMemoryUsage: the use of the machine's memory. */
#define SYSPROF_TYPE_MEMORY_USAGE (sysprof_memory_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofMemoryUsage,
                            sysprof_memory_usage,
                            MEMORY_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records counters of the category "Memory", in bytes, twice a second. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_memory_usage_new (void);

/* SysprofDiskUsage: completed operations of each block device. */
#define SYSPROF_TYPE_DISK_USAGE (sysprof_disk_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofDiskUsage,
                            sysprof_disk_usage,
                            DISK_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records the counters "Disk"/"Total Reads (DEVICE)" and "Total Writes (DEVICE)" twice a
 * second: operations since the previous value, for each block device and "Combined". *(full)*
 */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_disk_usage_new (void);

/* SysprofNetworkUsage: bytes received and sent by each network interface. */
#define SYSPROF_TYPE_NETWORK_USAGE (sysprof_network_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofNetworkUsage,
                            sysprof_network_usage,
                            NETWORK_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records the counters "Network"/"RX Bytes" and "TX Bytes", combined and per interface, twice a
 * second: all bytes since the interface came up. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_network_usage_new (void);

/* SysprofEnergyUsage: power consumption of the parts of the CPU (RAPL). */
#define SYSPROF_TYPE_ENERGY_USAGE (sysprof_energy_usage_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofEnergyUsage,
                            sysprof_energy_usage,
                            ENERGY_USAGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_energy_usage_new (void);

/* SysprofBatteryCharge: charge left in each battery. */
#define SYSPROF_TYPE_BATTERY_CHARGE (sysprof_battery_charge_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofBatteryCharge,
                            sysprof_battery_charge,
                            BATTERY_CHARGE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Records counters of the category "Battery Charge", in µAh, twice a second. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_battery_charge_new (void);

/* SysprofPowerProfile: holds a power profile while recording. */
#define SYSPROF_TYPE_POWER_PROFILE (sysprof_power_profile_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofPowerProfile,
                            sysprof_power_profile,
                            POWER_PROFILE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* `id` is "power-saver", "balanced" or "performance". *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_power_profile_new (const char *id);

/* The power profile. Property "id". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_power_profile_get_id (SysprofPowerProfile *self);

/* SysprofSystemLogs: messages of the system journal, as log frames. */
#define SYSPROF_TYPE_SYSTEM_LOGS (sysprof_system_logs_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSystemLogs,
                            sysprof_system_logs,
                            SYSTEM_LOGS,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_system_logs_new (void);

/* SysprofDBusMonitor: all messages of a message bus. */
#define SYSPROF_TYPE_DBUS_MONITOR (sysprof_dbus_monitor_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofDBusMonitor,
                            sysprof_dbus_monitor,
                            DBUS_MONITOR,
                            SYSPROF_AVAILABLE_IN_ALL)

/* *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_dbus_monitor_new (GBusType bus_type);

/* The same for the bus at `bus_address`. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_dbus_monitor_new_for_bus_address (const char *bus_address);

/* The bus; G_BUS_TYPE_NONE if the monitor was created for an address. Property "bus-type". */
SYSPROF_AVAILABLE_IN_ALL
GBusType sysprof_dbus_monitor_get_bus_type (SysprofDBusMonitor *self);

/* The address of the bus; NULL if the monitor was created for a bus type. Property
 * "bus-address". *(none)* */
SYSPROF_AVAILABLE_IN_ALL
const char *sysprof_dbus_monitor_get_bus_address (SysprofDBusMonitor *self);

/* SysprofProxiedInstrument: another program on a message bus that writes its own capture, which
 * is merged at the end. */
#define SYSPROF_TYPE_PROXIED_INSTRUMENT (sysprof_proxied_instrument_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofProxiedInstrument,
                            sysprof_proxied_instrument,
                            PROXIED_INSTRUMENT,
                            SYSPROF_AVAILABLE_IN_ALL)

/* The object at `object_path` of `bus_name` implements org.gnome.Sysprof3.Profiler. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_proxied_instrument_new (GBusType bus_type,
                                                   const char *bus_name,
                                                   const char *object_path);

/* `options` is the a{sv} for its Start method; a floating reference is consumed. NULL passes
 * none. *(full)* Since 49. */
SYSPROF_AVAILABLE_IN_49
SysprofInstrument *sysprof_proxied_instrument_new_with_options (GBusType bus_type,
                                                                const char *bus_name,
                                                                const char *object_path,
                                                                GVariant *options);

/* SysprofSubprocessOutput: the output of a command, as an embedded file. */
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

/* SysprofSymbolsBundle: adds symbols of all sampled addresses to the capture. */
#define SYSPROF_TYPE_SYMBOLS_BUNDLE (sysprof_symbols_bundle_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofSymbolsBundle,
                            sysprof_symbols_bundle,
                            SYMBOLS_BUNDLE,
                            SYSPROF_AVAILABLE_IN_ALL)

/* After the recording, resolves every address in it and embeds the table, so the capture looks
 * the same on any machine. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_symbols_bundle_new (void);

/* Whether debug files may be downloaded from debuginfod servers. Property "enable-debuginfod".
 * Since 48. */
SYSPROF_AVAILABLE_IN_48
gboolean sysprof_symbols_bundle_get_enable_debuginfod (SysprofSymbolsBundle *self);
SYSPROF_AVAILABLE_IN_48
void sysprof_symbols_bundle_set_enable_debuginfod (SysprofSymbolsBundle *self,
                                                   gboolean enable_debuginfod);

/* SysprofTracefdConsumer: merges a capture that another process wrote. */
#define SYSPROF_TYPE_TRACEFD_CONSUMER (sysprof_tracefd_consumer_get_type ())

SYSPROF_DECLARE_INSTRUMENT (SysprofTracefdConsumer,
                            sysprof_tracefd_consumer,
                            TRACEFD_CONSUMER,
                            SYSPROF_AVAILABLE_IN_ALL)

/* Takes ownership of `trace_fd`, a capture file. Its contents are merged into the recording
 * when it has stopped. *(full)* */
SYSPROF_AVAILABLE_IN_ALL
SysprofInstrument *sysprof_tracefd_consumer_new (int trace_fd);

G_END_DECLS
