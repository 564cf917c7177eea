// SPDX-License-Identifier: GPL-3.0-or-later

/* The processes that the recording covers, and a queue of those that have started a program or
 * generate code and still need to be examined.
 *
 * The instrument that reads kernel events fills it, and the process watcher empties it. A
 * process that exits before the watcher examines it is dropped here, so that a machine that
 * starts a thousand processes per second does not cost reads of /proc. *Owned* by the pump
 * thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_LOG_SIZE 1024 /* if more are queued, the oldest is dropped */

/* In the order of the kernel's records, which do not report time namespaces. */
typedef enum
{
  NAMESPACE_NET,
  NAMESPACE_UTS,
  NAMESPACE_IPC,
  NAMESPACE_PID,
  NAMESPACE_USER,
  NAMESPACE_MNT,
  NAMESPACE_CGROUP,
  N_NAMESPACES,
} NamespaceKind;

/* Inodes, as in /proc/PID/ns. */
typedef struct
{
  uint64_t inode[N_NAMESPACES];
} Namespaces;

typedef struct
{
  int32_t pid; /* 0 = dropped */
  int64_t time;
} StartedProcess;

/* The kind of an executable mapping, by its name. */
typedef enum
{
  CODE_MAPPING_OF_FILE,
  CODE_MAPPING_GENERATED, /* no file: code that the program generates */
  CODE_MAPPING_OF_DUMP,   /* a jitdump file, in which a program describes its generated code */
} CodeMappingKind;

CodeMappingKind sysprof_code_mapping_kind (const char *path, size_t size);

#define GENERATING_LOG_SIZE 64
#define GENERATING_PATH     256

typedef struct
{
  int32_t pid;
  char path[GENERATING_PATH]; /* of the mapping */
} GeneratingProcess;

typedef struct
{
  bool is_tracked; /* kernel events report started processes */
  int32_t *only;   /* [n_only] the processes that the recording covers; NULL = all */
  unsigned n_only;
  StartedProcess started[PROCESS_LOG_SIZE]; /* a ring */
  unsigned first;
  unsigned n_started;
  Namespaces *sets; /* [n_sets] each is different; most processes share one */
  unsigned n_sets;
  /* [n_slots] hash table by pid; NULL while it is empty */
  struct ProcessNamespaces *namespaces;
  unsigned n_slots; /* a power of two */
  unsigned n_known;
  GeneratingProcess generating[GENERATING_LOG_SIZE]; /* a ring */
  unsigned first_generating;
  unsigned n_generating;
  /* by pid: processes already reported as generating code, so that not every mapping reports
   * them */
  int32_t known_generating[256];
} ProcessLog;

void sysprof_process_log_clear (ProcessLog *self);

/* Copied. */
void sysprof_process_log_set_only (ProcessLog *self, const int32_t *pids, unsigned n_pids);

/* `pid` started a program at `time` (exec). */
void sysprof_process_log_started (ProcessLog *self, int32_t pid, int64_t time);
/* `pid` has been in these namespaces since `time`. Call this at each fork, and when a process
 * changes its namespaces. */
void sysprof_process_log_set_namespaces (ProcessLog *self,
                                         int32_t pid,
                                         int64_t time,
                                         const Namespaces *namespaces);
/* NULL if unknown. Valid until the log changes. */
const Namespaces *sysprof_process_log_get_namespaces (const ProcessLog *self, int32_t pid);
/* `pid` maps executable memory as [size] `path`. */
void sysprof_process_log_mapped (ProcessLog *self, int32_t pid, const char *path, size_t size);
/* The next process that generates code; a process is returned at least once. NULL if there is
 * none. Valid until the log changes. */
const GeneratingProcess *sysprof_process_log_take_generating (ProcessLog *self);
/* `pid` has exited. */
void sysprof_process_log_ended (ProcessLog *self, int32_t pid);

/* The next process to examine that started before `before`. FALSE if there is none. */
bool sysprof_process_log_take (ProcessLog *self, int64_t before, StartedProcess *process);
