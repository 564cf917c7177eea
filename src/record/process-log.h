// SPDX-License-Identifier: GPL-3.0-or-later

/* Which processes the recording is about, and which of them have started a program, or generate code, and are still to be
 * looked at.
 *
 * The instrument that reads kernel events fills it, the process watcher empties it. A process that ends before
 * anybody has looked is dropped here: a machine that starts a thousand processes a second costs no reading
 * in /proc. *Owned* by the pump thread. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCESS_LOG_SIZE 1024 /* the oldest is dropped when more wait */

/* In the order of the kernel's records; it does not tell of time namespaces. */
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
  int32_t pid; /* 0 = was dropped */
  int64_t time;
} StartedProcess;

/* What executable memory holds, by the name that it is mapped under. */
typedef enum
{
  CODE_MAPPING_OF_FILE,
  CODE_MAPPING_GENERATED, /* no file: code that the program makes */
  CODE_MAPPING_OF_DUMP,   /* a file in which a program says what it has made */
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
  bool is_tracked; /* kernel events tell of processes that start */
  int32_t *only;   /* [n_only] the processes the recording is about; NULL = all */
  unsigned n_only;
  StartedProcess started[PROCESS_LOG_SIZE]; /* a ring */
  unsigned first;
  unsigned n_started;
  Namespaces *sets; /* [n_sets] all are different: most processes have the same */
  unsigned n_sets;
  struct ProcessNamespaces *namespaces; /* [n_slots] by pid; NULL until some are known */
  unsigned n_slots;                     /* a power of two */
  unsigned n_known;
  GeneratingProcess generating[GENERATING_LOG_SIZE]; /* a ring */
  unsigned first_generating;
  unsigned n_generating;
  int32_t known_generating
      [256]; /* by pid: of whom it was told, so that it is not told at each mapping */
} ProcessLog;

void sysprof_process_log_clear (ProcessLog *self);

/* Copied. */
void sysprof_process_log_set_only (ProcessLog *self, const int32_t *pids, unsigned n_pids);

/* `pid` has started a program at `time` (exec). */
void sysprof_process_log_started (ProcessLog *self, int32_t pid, int64_t time);
/* `pid` is in these namespaces since `time`: told at each fork, and when it changes them. */
void sysprof_process_log_set_namespaces (ProcessLog *self,
                                         int32_t pid,
                                         int64_t time,
                                         const Namespaces *namespaces);
/* NULL when nobody told. Valid until something is told. */
const Namespaces *sysprof_process_log_get_namespaces (const ProcessLog *self, int32_t pid);
/* `pid` maps executable memory as [size] `path`. */
void sysprof_process_log_mapped (ProcessLog *self, int32_t pid, const char *path, size_t size);
/* The next that generates code, told at least once; NULL when there is none. Valid until something is told. */
const GeneratingProcess *sysprof_process_log_take_generating (ProcessLog *self);
/* `pid` has ended. */
void sysprof_process_log_ended (ProcessLog *self, int32_t pid);

/* The next that is to be looked at, of those that were started before `before`. FALSE when there is none. */
bool sysprof_process_log_take (ProcessLog *self, int64_t before, StartedProcess *process);
