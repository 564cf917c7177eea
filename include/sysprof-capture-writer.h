// SPDX-License-Identifier: BSD-2-Clause

/* Writes a capture.
 *
 * Frames are collected in a buffer, which is written when the next frame does not fit, on
 * flush, and at the end. Functions that add a frame return false with errno set on failure.
 * Then nothing is added, and the capture remains usable. EMSGSIZE means that the frame would be
 * too long. Other values come from writing the buffer, which is kept and written again later.
 * Texts that are too long for a field of fixed size are truncated; NULL is an empty text. Use a
 * writer from one thread at a time.
 *
 * The common arguments are the time (ns, see sysprof-clock.h), the CPU and the process, each -1
 * if it does not apply. */

#pragma once

#include "sysprof-capture-types.h"

SYSPROF_BEGIN_DECLS

/* Returns a writer for the descriptor in the environment variable SYSPROF_TRACE_FD. Returns
 * NULL if the variable is not set, or if the function was called before. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_new_from_env (size_t buffer_size);
/* Creates or truncates `filename`. `buffer_size` is in bytes, rounded up to pages; 0 = 64
 * pages. Returns NULL with errno set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_new (const char *filename, size_t buffer_size);
/* Takes ownership of the descriptor, also on failure, and truncates the file if possible. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_new_from_fd (int fd, size_t buffer_size);
/* The size of the buffer in bytes, rounded up to pages. */
SYSPROF_AVAILABLE_IN_ALL
size_t sysprof_capture_writer_get_buffer_size (SysprofCaptureWriter *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_ref (SysprofCaptureWriter *self);
/* The last reference flushes and closes the file. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_writer_unref (SysprofCaptureWriter *self);
/* Gets the number of added frames of each type. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_writer_stat (SysprofCaptureWriter *self, SysprofCaptureStat *stat);

/* Adds one chunk of an embedded file, at most 65244 bytes. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_file (SysprofCaptureWriter *self,
                                      int64_t time,
                                      int cpu,
                                      int32_t pid,
                                      const char *path,
                                      bool is_last,
                                      const uint8_t *data,
                                      size_t data_len);
/* Adds everything that can be read from `fd`, in chunks. The caller owns `fd`. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_file_fd (SysprofCaptureWriter *self,
                                         int64_t time,
                                         int cpu,
                                         int32_t pid,
                                         const char *path,
                                         int fd);
/* `filename` is mapped from `start` up to, but not including, `end`, starting at `offset` bytes
 * in the file; `inode` 0 = unknown. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_map (SysprofCaptureWriter *self,
                                     int64_t time,
                                     int cpu,
                                     int32_t pid,
                                     uint64_t start,
                                     uint64_t end,
                                     uint64_t offset,
                                     uint64_t inode,
                                     const char *filename);
/* `build_id` is lower-case hex; NULL or empty = unknown. */
SYSPROF_AVAILABLE_IN_45
bool sysprof_capture_writer_add_map_with_build_id (SysprofCaptureWriter *self,
                                                   int64_t time,
                                                   int cpu,
                                                   int32_t pid,
                                                   uint64_t start,
                                                   uint64_t end,
                                                   uint64_t offset,
                                                   uint64_t inode,
                                                   const char *filename,
                                                   const char *build_id);
/* `time` is the start; `duration` is in ns, 0 for a point in time. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_mark (SysprofCaptureWriter *self,
                                      int64_t time,
                                      int cpu,
                                      int32_t pid,
                                      uint64_t duration,
                                      const char *group,
                                      const char *name,
                                      const char *message);
/* `metadata_len` in bytes, -1 if the text ends in NUL. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_metadata (SysprofCaptureWriter *self,
                                          int64_t time,
                                          int cpu,
                                          int32_t pid,
                                          const char *id,
                                          const char *metadata,
                                          ssize_t metadata_len);
/* Returns an address that represents `name` in samples and allocations, or 0 with errno set on
 * failure. */
SYSPROF_AVAILABLE_IN_ALL
uint64_t sysprof_capture_writer_add_jitmap (SysprofCaptureWriter *self, const char *name);
/* The first frame of a process contains its command line; later ones contain new names. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_process (SysprofCaptureWriter *self,
                                         int64_t time,
                                         int cpu,
                                         int32_t pid,
                                         const char *cmdline);
/* `addrs`: innermost first. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_sample (SysprofCaptureWriter *self,
                                        int64_t time,
                                        int cpu,
                                        int32_t pid,
                                        int32_t tid,
                                        const SysprofCaptureAddress *addrs,
                                        unsigned int n_addrs);
/* Records that a function was entered or left. */
SYSPROF_AVAILABLE_IN_45
bool sysprof_capture_writer_add_trace (SysprofCaptureWriter *self,
                                       int64_t time,
                                       int cpu,
                                       int32_t pid,
                                       int32_t tid,
                                       const SysprofCaptureAddress *addrs,
                                       unsigned int n_addrs,
                                       bool entering);
/* `pid` has started `child_pid`; both are threads if the kernel reports threads. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_fork (SysprofCaptureWriter *self,
                                      int64_t time,
                                      int cpu,
                                      int32_t pid,
                                      int32_t child_pid);
/* The process has ended. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_exit (SysprofCaptureWriter *self,
                                      int64_t time,
                                      int cpu,
                                      int32_t pid);
/* Marks a time at which the recording was running; readers skip it. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_timestamp (SysprofCaptureWriter *self,
                                           int64_t time,
                                           int cpu,
                                           int32_t pid);
/* The `id` of each counter must come from sysprof_capture_writer_request_counter(). */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_define_counters (SysprofCaptureWriter *self,
                                             int64_t time,
                                             int cpu,
                                             int32_t pid,
                                             const SysprofCaptureCounter *counters,
                                             unsigned int n_counters);
/* Sets `n_counters` counters. Each value has the type with which its counter was defined. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_set_counters (SysprofCaptureWriter *self,
                                          int64_t time,
                                          int cpu,
                                          int32_t pid,
                                          const unsigned int *counters_ids,
                                          const SysprofCaptureCounterValue *values,
                                          unsigned int n_counters);
/* `severity` is one of GLib's log level flags. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_log (SysprofCaptureWriter *self,
                                     int64_t time,
                                     int cpu,
                                     int32_t pid,
                                     int severity,
                                     const char *domain,
                                     const char *message);
/* `alloc_size` 0 = freed. At most 64 addresses are requested from the callback. */
SYSPROF_AVAILABLE_IN_3_36
bool sysprof_capture_writer_add_allocation (SysprofCaptureWriter *self,
                                            int64_t time,
                                            int cpu,
                                            int32_t pid,
                                            int32_t tid,
                                            SysprofCaptureAddress alloc_addr,
                                            int64_t alloc_size,
                                            SysprofBacktraceFunc backtrace_func,
                                            void *backtrace_data);
/* At most 4095 addresses are stored. */
SYSPROF_AVAILABLE_IN_3_36
bool sysprof_capture_writer_add_allocation_copy (SysprofCaptureWriter *self,
                                                 int64_t time,
                                                 int cpu,
                                                 int32_t pid,
                                                 int32_t tid,
                                                 SysprofCaptureAddress alloc_addr,
                                                 int64_t alloc_size,
                                                 const SysprofCaptureAddress *addrs,
                                                 unsigned int n_addrs);
/* `src` on the host is `dst` in the mount namespace of the process. */
SYSPROF_AVAILABLE_IN_3_40
bool sysprof_capture_writer_add_overlay (SysprofCaptureWriter *self,
                                         int64_t time,
                                         int cpu,
                                         int32_t pid,
                                         uint32_t layer,
                                         const char *src,
                                         const char *dst);
/* A message that is too long is recorded without its bytes. */
SYSPROF_AVAILABLE_IN_45
bool sysprof_capture_writer_add_dbus_message (SysprofCaptureWriter *self,
                                              int64_t time,
                                              int cpu,
                                              int32_t pid,
                                              uint16_t bus_type,
                                              uint16_t flags,
                                              const uint8_t *message_data,
                                              size_t message_len);

/* Writes all buffered frames, and the end time of the capture. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_flush (SysprofCaptureWriter *self);
/* Flushes, then copies the whole file. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_save_as (SysprofCaptureWriter *self, const char *filename);
/* Returns the first of `n_counters` consecutive IDs, or 0 with errno set if too few are left.
 */
SYSPROF_AVAILABLE_IN_ALL
unsigned int sysprof_capture_writer_request_counter (SysprofCaptureWriter *self,
                                                     unsigned int n_counters);
/* Flushes, and returns a reader of the file written so far. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_writer_create_reader (SysprofCaptureWriter *self);
/* Appends everything that this writer wrote to `dest` unchanged. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_splice (SysprofCaptureWriter *self, SysprofCaptureWriter *dest);
/* Appends all frames of `reader`. Counters and jitmap addresses are renumbered, so that they
 * keep their meaning. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_cat (SysprofCaptureWriter *self, SysprofCaptureReader *reader);

SYSPROF_END_DECLS
