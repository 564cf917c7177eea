// SPDX-License-Identifier: BSD-2-Clause

/* Writes a capture.
 *
 * Frames are collected in a buffer and written when the next one does not fit, on flush, and at the end. Every call that adds
 * something returns false with errno set if it could not; nothing is then added, and the capture goes on:
 * EMSGSIZE means that the frame would be longer than a frame can be; other values come from writing the
 * buffer, which is then kept and tried again. Texts that are too long for a field of fixed size are cut; NULL counts as the
 * empty text. One thread at a time.
 *
 * The common arguments are the time (ns, see sysprof-clock.h), the CPU and the process, each -1 where it does not apply.
 */

#pragma once

#include "sysprof-capture-types.h"

SYSPROF_BEGIN_DECLS

/* Writes what the environment's SYSPROF_TRACE_FD asks for; NULL if it asks for nothing, or did so before. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_new_from_env (size_t buffer_size);
/* Creates or truncates `filename`. `buffer_size` is in bytes, rounded up to whole pages; 0 = 64 pages. NULL with errno
 * set on failure. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_new (const char *filename, size_t buffer_size);
/* Takes the descriptor over, also on failure; truncates it where that is possible. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_new_from_fd (int fd, size_t buffer_size);
/* Bytes, as rounded when the writer was made. */
SYSPROF_AVAILABLE_IN_ALL
size_t sysprof_capture_writer_get_buffer_size (SysprofCaptureWriter *self);
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureWriter *sysprof_capture_writer_ref (SysprofCaptureWriter *self);
/* The last one flushes and closes. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_writer_unref (SysprofCaptureWriter *self);
/* How many frames of each type were added. */
SYSPROF_AVAILABLE_IN_ALL
void sysprof_capture_writer_stat (SysprofCaptureWriter *self, SysprofCaptureStat *stat);

/* One chunk of an embedded file, at most 65244 bytes. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_file (SysprofCaptureWriter *self,
                                      int64_t time,
                                      int cpu,
                                      int32_t pid,
                                      const char *path,
                                      bool is_last,
                                      const uint8_t *data,
                                      size_t data_len);
/* All that can be read from `fd` (borrowed), in chunks. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_add_file_fd (SysprofCaptureWriter *self,
                                         int64_t time,
                                         int cpu,
                                         int32_t pid,
                                         const char *path,
                                         int fd);
/* `filename` is mapped from `start` until before `end`, beginning at `offset` bytes of the file; `inode` 0 = not known. */
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
/* `build_id` is lower-case hex; NULL or empty = not known. */
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
/* `time` is the begin, `duration` in ns, 0 for a point in time. */
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
/* An address that stands for `name` in samples and allocations; 0 with errno set on failure. */
SYSPROF_AVAILABLE_IN_ALL
uint64_t sysprof_capture_writer_add_jitmap (SysprofCaptureWriter *self, const char *name);
/* The first of a process is its command line; later ones are new names. */
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
/* A function was entered, or left. */
SYSPROF_AVAILABLE_IN_45
bool sysprof_capture_writer_add_trace (SysprofCaptureWriter *self,
                                       int64_t time,
                                       int cpu,
                                       int32_t pid,
                                       int32_t tid,
                                       const SysprofCaptureAddress *addrs,
                                       unsigned int n_addrs,
                                       bool entering);
/* `pid` has started `child_pid`; both are threads where the kernel tells of threads. */
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
/* Something lives at this time; readers skip it. */
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
/* `n_counters` ids and as many values, each of the type that its counter was defined with. */
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
/* `alloc_size` 0 = freed. At most 64 addresses are asked for. */
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
/* At most 4095 addresses are kept. */
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
/* `src` on the host stands for `dst` in the mount namespace of the process. */
SYSPROF_AVAILABLE_IN_3_40
bool sysprof_capture_writer_add_overlay (SysprofCaptureWriter *self,
                                         int64_t time,
                                         int cpu,
                                         int32_t pid,
                                         uint32_t layer,
                                         const char *src,
                                         const char *dst);
/* A message that is too long is noted without its bytes. */
SYSPROF_AVAILABLE_IN_45
bool sysprof_capture_writer_add_dbus_message (SysprofCaptureWriter *self,
                                              int64_t time,
                                              int cpu,
                                              int32_t pid,
                                              uint16_t bus_type,
                                              uint16_t flags,
                                              const uint8_t *message_data,
                                              size_t message_len);

/* Writes all that was added, and the time until which the capture reaches. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_flush (SysprofCaptureWriter *self);
/* Flushes, then copies the whole file. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_save_as (SysprofCaptureWriter *self, const char *filename);
/* The first of `n_counters` consecutive ids; 0 with errno set if there are not so many left. */
SYSPROF_AVAILABLE_IN_ALL
unsigned int sysprof_capture_writer_request_counter (SysprofCaptureWriter *self,
                                                     unsigned int n_counters);
/* Flushes, and reads what is in the file so far. */
SYSPROF_AVAILABLE_IN_ALL
SysprofCaptureReader *sysprof_capture_writer_create_reader (SysprofCaptureWriter *self);
/* Appends all that this writer wrote to `dest` as it is. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_splice (SysprofCaptureWriter *self, SysprofCaptureWriter *dest);
/* Appends all frames of `reader`, with counters and names of addresses renumbered so that they stay what they are. */
SYSPROF_AVAILABLE_IN_ALL
bool sysprof_capture_writer_cat (SysprofCaptureWriter *self, SysprofCaptureReader *reader);

SYSPROF_END_DECLS
