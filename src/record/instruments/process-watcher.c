// SPDX-License-Identifier: GPL-3.0-or-later

#include "record/instruments/process-watcher.h"

struct _SysprofProcessWatcher
{
  SysprofInstrument parent_instance;
};

SYSPROF_DEFINE_INSTRUMENT (SysprofProcessWatcher, sysprof_process_watcher)

static void
sysprof_process_watcher_class_init (SysprofProcessWatcherClass *klass)
{
  klass->parent_class.name = "Processes";
}

static void
sysprof_process_watcher_init (SysprofProcessWatcher *self)
{
}

SysprofInstrument *
sysprof_process_watcher_new (void)
{
  return g_object_new (SYSPROF_TYPE_PROCESS_WATCHER, NULL);
}
