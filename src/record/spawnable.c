// SPDX-License-Identifier: GPL-3.0-or-later

/* The program to spawn. *Owned* by the thread that sets it up, then by the pump. */

#include "record/host-command.h"
#include "record/record.h"
#include "util/util.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sysprof-capture.h>
#include <sysprof-spawnable.h>

#define FIRST_FREE_FD       3 /* after the standard streams */
#define STARTING_FD_DEFAULT 2 /* for negative numbers, as the public API defines */

typedef struct
{
  int fd; /* owned */
  int dest_fd;
} FdMapping;

struct _SysprofSpawnable
{
  GObject parent_instance;
  GPtrArray *argv; /* NULL-terminated */
  char *cwd;
  char **environ_; /* NULL = empty */
  GArray *fds;     /* [FdMapping] */
  int next_fd;
  GSubprocessFlags flags;
  bool on_host; /* not in the sandbox of this process */
};

enum
{
  PROP_0,
  PROP_ARGV,
  PROP_CWD,
  PROP_ENVIRON,
  PROP_FLAGS,
  N_PROPS
};

G_DEFINE_FINAL_TYPE (SysprofSpawnable, sysprof_spawnable, G_TYPE_OBJECT)

static GParamSpec *properties[N_PROPS];

static void
notify (SysprofSpawnable *self, guint prop_id)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[prop_id]);
}

static void
clear_mapping (void *mapping)
{
  sysprof_autofd_close (&((FdMapping *) mapping)->fd);
}

static void
sysprof_spawnable_finalize (GObject *object)
{
  SysprofSpawnable *self = SYSPROF_SPAWNABLE (object);

  g_ptr_array_unref (self->argv);
  g_free (self->cwd);
  g_strfreev (self->environ_);
  g_array_unref (self->fds);
  G_OBJECT_CLASS (sysprof_spawnable_parent_class)->finalize (object);
}

static void
sysprof_spawnable_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SysprofSpawnable *self = SYSPROF_SPAWNABLE (object);

  switch (id)
    {
    case PROP_ARGV:
      g_value_set_boxed (value, self->argv->pdata);
      break;
    case PROP_CWD:
      g_value_set_string (value, self->cwd);
      break;
    case PROP_ENVIRON:
      g_value_set_boxed (value, self->environ_);
      break;
    case PROP_FLAGS:
      g_value_set_flags (value, self->flags);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
sysprof_spawnable_class_init (SysprofSpawnableClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  object_class->finalize = sysprof_spawnable_finalize;
  object_class->get_property = sysprof_spawnable_get_property;

  properties[PROP_ARGV] = g_param_spec_boxed ("argv", NULL, NULL, G_TYPE_STRV, flags);
  properties[PROP_CWD] = g_param_spec_string ("cwd", NULL, NULL, NULL, flags);
  properties[PROP_ENVIRON] = g_param_spec_boxed ("environ", NULL, NULL, G_TYPE_STRV, flags);
  properties[PROP_FLAGS] =
      g_param_spec_flags ("flags", NULL, NULL, G_TYPE_SUBPROCESS_FLAGS, 0, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
}

static void
sysprof_spawnable_init (SysprofSpawnable *self)
{
  self->argv = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (self->argv, NULL);
  self->environ_ = g_get_environ ();
  self->fds = g_array_new (FALSE, FALSE, sizeof (FdMapping));
  g_array_set_clear_func (self->fds, clear_mapping);
  self->next_fd = FIRST_FREE_FD;
}

SysprofSpawnable *
sysprof_spawnable_new (void)
{
  return g_object_new (SYSPROF_TYPE_SPAWNABLE, NULL);
}

/* --- arguments --- */

void
sysprof_spawnable_prepend_argv (SysprofSpawnable *self, const char *argv)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  if (argv == NULL)
    return;
  g_ptr_array_insert (self->argv, 0, g_strdup (argv));
  notify (self, PROP_ARGV);
}

void
sysprof_spawnable_append_argv (SysprofSpawnable *self, const char *argv)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  if (argv == NULL)
    return;
  g_ptr_array_insert (self->argv, (int) self->argv->len - 1, g_strdup (argv));
  notify (self, PROP_ARGV);
}

void
sysprof_spawnable_append_args (SysprofSpawnable *self, const char *const *args)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  for (size_t i = 0; args != NULL && args[i] != NULL; i++)
    sysprof_spawnable_append_argv (self, args[i]);
}

const char *const *
sysprof_spawnable_get_argv (SysprofSpawnable *self)
{
  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), NULL);

  return (const char *const *) self->argv->pdata;
}

/* --- directory and environment --- */

const char *
sysprof_spawnable_get_cwd (SysprofSpawnable *self)
{
  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), NULL);

  return self->cwd;
}

void
sysprof_spawnable_set_cwd (SysprofSpawnable *self, const char *cwd)
{
  g_autofree char *old = NULL;

  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  old = g_steal_pointer (&self->cwd); /* `cwd` may be this string */
  self->cwd = g_strdup (cwd);
  notify (self, PROP_CWD);
}

const char *const *
sysprof_spawnable_get_environ (SysprofSpawnable *self)
{
  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), NULL);

  return (const char *const *) self->environ_;
}

void
sysprof_spawnable_set_environ (SysprofSpawnable *self, const char *const *environ_)
{
  g_auto (GStrv) old = NULL;

  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  old = g_steal_pointer (&self->environ_);
  self->environ_ = g_strdupv ((char **) environ_);
  notify (self, PROP_ENVIRON);
}

void
sysprof_spawnable_setenv (SysprofSpawnable *self, const char *key, const char *value)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));
  g_return_if_fail (key != NULL && *key != '\0' && strchr (key, '=') == NULL);

  self->environ_ = value != NULL ? g_environ_setenv (self->environ_, key, value, TRUE)
                                 : g_environ_unsetenv (self->environ_, key);
  notify (self, PROP_ENVIRON);
}

const char *
sysprof_spawnable_getenv (SysprofSpawnable *self, const char *key)
{
  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), NULL);
  g_return_val_if_fail (key != NULL, NULL);

  return g_environ_getenv (self->environ_, key);
}

void
sysprof_spawnable_add_ld_preload (SysprofSpawnable *self, const char *library_path)
{
  const char *others;
  g_autofree char *all = NULL;

  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));
  g_return_if_fail (library_path != NULL);

  others = sysprof_spawnable_getenv (self, "LD_PRELOAD");
  if (others != NULL && *others != '\0')
    all = g_strconcat (library_path, ":", others, NULL);
  sysprof_spawnable_setenv (self, "LD_PRELOAD", all != NULL ? all : library_path);
}

/* --- descriptors --- */

static bool
is_taken (SysprofSpawnable *self, int dest_fd)
{
  for (guint i = 0; i < self->fds->len; i++)
    if (g_array_index (self->fds, FdMapping, i).dest_fd == dest_fd)
      return true;
  return false;
}

int
sysprof_spawnable_take_fd (SysprofSpawnable *self, int fd, int dest_fd)
{
  FdMapping mapping = { fd, dest_fd };

  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), -1);
  g_return_val_if_fail (fd >= 0, -1);

  if (dest_fd < 0)
    {
      while (is_taken (self, self->next_fd))
        self->next_fd++;
      mapping.dest_fd = self->next_fd++;
    }

  for (guint i = 0; i < self->fds->len; i++)
    if (g_array_index (self->fds, FdMapping, i).dest_fd == mapping.dest_fd)
      {
        g_array_remove_index (self->fds, i);
        break;
      }

  g_array_append_val (self->fds, mapping);
  return mapping.dest_fd;
}

void
sysprof_spawnable_foreach_fd (SysprofSpawnable *self,
                              SysprofSpawnableFDForeach foreach,
                              gpointer user_data)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));
  g_return_if_fail (foreach != NULL);

  for (guint i = 0; i < self->fds->len; i++)
    {
      const FdMapping *mapping = &g_array_index (self->fds, FdMapping, i);

      foreach (mapping->dest_fd, mapping->fd, user_data)
        ;
    }
}

void
sysprof_spawnable_set_starting_fd (SysprofSpawnable *self, int starting_fd)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  self->next_fd = starting_fd >= 0 ? starting_fd : STARTING_FD_DEFAULT;
}

int
sysprof_spawnable_add_trace_fd (SysprofSpawnable *self, const char *envvar)
{
  autofd child_fd = -1;
  autofd fd = -1;
  char number[12];

  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), -1);

  fd = sysprof_memfd_create ("[sysprof-trace-fd]");
  if (fd < 0)
    return -1;

  /* Both refer to one file with one position: the child appends, and we read with pread(). */
  child_fd = fcntl (fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  if (child_fd < 0)
    return -1;

  g_snprintf (number, sizeof number, "%d",
              sysprof_spawnable_take_fd (self, sysprof_steal_fd (&child_fd), -1));
  sysprof_spawnable_setenv (self, envvar != NULL ? envvar : "SYSPROF_TRACE_FD", number);
  return sysprof_steal_fd (&fd);
}

/* --- starting --- */

GSubprocessFlags
sysprof_spawnable_get_flags (SysprofSpawnable *self)
{
  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), G_SUBPROCESS_FLAGS_NONE);

  return self->flags;
}

void
sysprof_spawnable_set_flags (SysprofSpawnable *self, GSubprocessFlags flags)
{
  g_return_if_fail (SYSPROF_IS_SPAWNABLE (self));

  self->flags = flags;
  notify (self, PROP_FLAGS);
}

/* The launcher takes ownership of descriptors, so it gets duplicates. */
static bool
pass_fds (SysprofSpawnable *self, GSubprocessLauncher *launcher, GError **error)
{
  for (guint i = 0; i < self->fds->len; i++)
    {
      const FdMapping *mapping = &g_array_index (self->fds, FdMapping, i);
      int copy = fcntl (mapping->fd, F_DUPFD_CLOEXEC, FIRST_FREE_FD);

      if (copy < 0)
        {
          sysprof_set_error_errno (error, "Cannot pass descriptor %d to '%s'", mapping->fd,
                                   (const char *) g_ptr_array_index (self->argv, 0));
          return false;
        }

      switch (mapping->dest_fd)
        {
        case STDIN_FILENO:
          g_subprocess_launcher_take_stdin_fd (launcher, copy);
          break;
        case STDOUT_FILENO:
          g_subprocess_launcher_take_stdout_fd (launcher, copy);
          break;
        case STDERR_FILENO:
          g_subprocess_launcher_take_stderr_fd (launcher, copy);
          break;
        default:
          g_subprocess_launcher_take_fd (launcher, copy, mapping->dest_fd);
          break;
        }
    }

  return true;
}

/* GLib's message has what failed and why. */
static void
describe_spawn_error (SysprofSpawnable *self, GError **error)
{
  const char *name = g_ptr_array_index (self->argv, 0);
  g_autofree char *reason = NULL;

  if (error == NULL || *error == NULL)
    return;

  reason = g_steal_pointer (&(*error)->message);
  (*error)->message =
      g_strdup_printf ("Cannot start '%s': %s. Try to run it without recording: it must be a "
                       "program on this machine that you may execute.",
                       name, reason);
}

void
sysprof_spawnable_set_on_host (SysprofSpawnable *self, gboolean on_host)
{
  self->on_host = on_host;
}

/* The program inherits descriptors, but its environment is passed as options: the helper needs
 * the address of the bus. */
static GSubprocess *
spawn_on_host (SysprofSpawnable *self, GSubprocessLauncher *launcher, GError **error)
{
  g_autoptr (GArray) fds = g_array_new (FALSE, FALSE, sizeof (int));
  g_auto (GStrv) argv = NULL;

  for (guint i = 0; i < self->fds->len; i++)
    g_array_append_val (fds, g_array_index (self->fds, FdMapping, i).dest_fd);
  argv = sysprof_host_command_dup_argv ((const char *const *) self->argv->pdata,
                                        (const char *const *) self->environ_, self->cwd, fds);
  return g_subprocess_launcher_spawnv (launcher, (const char *const *) argv, error);
}

/* With the environment and in the directory of the program. */
static GSubprocess *
spawn_here (SysprofSpawnable *self, GSubprocessLauncher *launcher, GError **error)
{
  static char *no_environment[] = { NULL };

  g_subprocess_launcher_set_environ (launcher,
                                     self->environ_ != NULL ? self->environ_ : no_environment);
  if (self->cwd != NULL)
    g_subprocess_launcher_set_cwd (launcher, self->cwd);
  return g_subprocess_launcher_spawnv (launcher, (const char *const *) self->argv->pdata,
                                       error);
}

GSubprocess *
sysprof_spawnable_spawn (SysprofSpawnable *self, GError **error)
{
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  GSubprocess *subprocess;

  g_return_val_if_fail (SYSPROF_IS_SPAWNABLE (self), NULL);

  if (self->argv->len <= 1)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                           "Cannot start a program: there is no program name. Set one with "
                           "sysprof_spawnable_append_argv().");
      return NULL;
    }

  launcher = g_subprocess_launcher_new (self->flags);
  if (!pass_fds (self, launcher, error))
    return NULL;
  if (self->on_host && sysprof_runs_on_host (self->argv->pdata[0]))
    subprocess = spawn_on_host (self, launcher, error);
  else
    subprocess = spawn_here (self, launcher, error);
  if (subprocess == NULL)
    describe_spawn_error (self, error);
  return subprocess;
}
