// SPDX-License-Identifier: GPL-3.0-or-later

/* The live view of --top and its thread. See top.h. */

#include "cli/top.h"

#include "cli/terminal.h"
#include "document/document.h"
#include "live/live.h"
#include "render/render.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define WINDOW         \
  (5 *                 \
   G_GINT64_CONSTANT ( \
       1000000000)) /* ns: window of the view; long enough for stable numbers, short enough to follow changes */
#define LEAST_SPAN \
  (G_GINT64_CONSTANT (500000000)) /* ns: shorter windows have too few samples */
#define INTERVAL_MSEC   1000
#define PLAIN_ROWS      40 /* size if the output is not a terminal */
#define PLAIN_COLUMNS   120
#define MOST_COUNTERS   10
#define LEAST_FUNCTIONS 3
#define TABLE_LINES     3 /* lines of a table besides its rows: title, blank line, heading */
#define ENTER_SCREEN    "\033[?1049h\033[?25l"
#define LEAVE_SCREEN    "\033[?25h\033[?1049l"
#define HOME            "\033[H"
#define CLEAR_LINE      "\033[K"
#define CLEAR_REST      "\033[J"

struct Top
{
  SysprofRecording *recording;
  TopOptions options;
  GThread *thread;
  GCancellable *cancellable; /* canceled to end the view */
  int wake_fd;               /* readable when the view must end */

  /* The terminal. *Frozen*, except for the last member. */
  bool is_screen;
  bool has_mode;       /* input is unbuffered */
  struct termios mode; /* settings before the view */
  atomic_bool is_given_back;

  /* Used by the thread only. */
  int recording_fd;
  LiveWindow *window;
  FileBudget budget; /* for all windows */
  GBytes *symbols;   /* symbols found for the previous window; or NULL */
  GBytes *unnamed;
  Terminal counts; /* of the status line */
  bool is_second;  /* and later ones */
  bool keys_ended; /* standard input has ended */
};

/* --- the thread --- */

typedef struct
{
  uint32_t rows;
  uint32_t columns;
} Size;

static Size
get_size (const Top *self)
{
  struct winsize size;

  if (self->is_screen && ioctl (self->options.fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
      size.ws_col > 0)
    return (Size){ size.ws_row, size.ws_col };
  return (Size){ PLAIN_ROWS, PLAIN_COLUMNS };
}

/* Frees the part of the file that was read. On file systems without holes the file grows. */
static void
give_back (Top *self)
{
  const int64_t header = sizeof (SysprofCaptureFileHeader);
  int64_t end = sysprof_live_window_get_offset (self->window);

  if (self->options.gives_back)
    (void) fallocate (self->recording_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, header,
                      end - header);
}

static SysprofDocument *
load_window (Top *self, GError **error)
{
  g_autoptr (SysprofDocumentLoader) loader = NULL;
  /* AT_SECURE: the program has rights that its user does not have, for example file
   * capabilities. */
  const SymbolizeOptions names = {
    .use_sandbox = geteuid () == 0 || getauxval (AT_SECURE) != 0,
    .budget = &self->budget,
    .no_cache =
        true, /* each update asks for new symbols, and would rewrite the cache each second */
  };
  autofd fd = -1;

  fd = sysprof_live_window_make_capture (self->window, SYSPROF_CAPTURE_CURRENT_TIME,
                                         self->symbols, self->unnamed, error);
  if (fd < 0)
    return NULL;
  loader = sysprof_document_loader_new_for_fd (fd, error);
  if (loader == NULL)
    return NULL;
  sysprof_document_loader_set_symbolize_options (loader, &names);
  return sysprof_document_loader_load (loader, self->cancellable, error);
}

/* Most symbols of the next window are already known. */
static void
keep_names (Top *self, const Store *store, const SymbolTable *symbols)
{
  g_clear_pointer (&self->symbols, g_bytes_unref);
  g_clear_pointer (&self->unnamed, g_bytes_unref);
  self->symbols = sysprof_symbol_table_pack (symbols, store);
  self->unnamed = sysprof_symbol_table_pack_unnamed (symbols, store);
}

static bool
add_view (const char *name, const ViewRequest *request, GString *text, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  GMemoryOutputStream *memory = G_MEMORY_OUTPUT_STREAM (stream);

  if (!sysprof_render_view (sysprof_view_find (name), RENDER_TEXT, request, stream, error))
    return false;
  g_string_append_len (text, g_memory_output_stream_get_data (memory),
                       (gssize) g_memory_output_stream_get_data_size (memory));
  return true;
}

static void
add_status (Top *self, Size size, GString *text)
{
  g_autofree char *line = NULL;
  RecordingStatus status;

  sysprof_recording_get_status (self->recording, &status);
  line = sysprof_cli_terminal_dup_line (&self->counts, &status, size.columns - 1);
  self->counts.last = status;
  g_string_append_printf (text, "%s\n\n", line);
}

static bool
add_tables (Top *self, Size size, GString *text, GError **error)
{
  g_autoptr (SysprofDocument) document = load_window (self, error);
  ViewRequest request = { .path = "the last seconds",
                          .use_color = self->is_screen && sysprof_wants_color (),
                          .terminal_colors = (uint8_t) sysprof_terminal_colors (),
                          .is_ascii = !g_get_charset (NULL),
                          .terminal_width = size.columns };
  uint32_t room = size.rows - MIN (size.rows, 2 + 1 + 2 * TABLE_LINES);

  if (document == NULL)
    return false;
  request.store = sysprof_document_get_store (document);
  request.symbols = sysprof_document_get_symbols (document);
  keep_names (self, request.store, request.symbols);

  request.is_overview = true;
  request.limit = MIN (room / 3, MOST_COUNTERS);
  if (request.limit > 0)
    {
      if (!add_view ("counters", &request, text, error))
        return false;
      g_string_append_c (text, '\n');
      room -= request.limit;
    }
  request.limit = MAX (room, LEAST_FUNCTIONS);
  return add_view ("functions", &request, text, error);
}

/* Writes without blocking for ever, because the reader of a pipe may stop reading and ^C must
 * still work. Returns FALSE if the reader has gone, or when the view must end. */
static bool
write_text (Top *self, const char *text, size_t size)
{
  while (size > 0)
    {
      struct pollfd fds[2] = { { .fd = self->options.fd, .events = POLLOUT },
                               { .fd = self->wake_fd, .events = POLLIN } };
      ssize_t n;

      if ((poll (fds, 2, -1) < 0 && errno != EINTR) || fds[1].revents != 0)
        return false;
      /* Not more than a pipe accepts at once when poll() reports it writable. */
      n = write (self->options.fd, text, MIN (size, PIPE_BUF));
      if (n < 0 && errno != EINTR && errno != EAGAIN)
        return false;
      if (n > 0)
        {
          text += n;
          size -= (size_t) n;
        }
    }
  return true;
}

/* Draws as many lines as fit, each over the previous one. */
static void
show_screen (Top *self, const char *text, uint32_t rows)
{
  g_autoptr (GString) screen = g_string_new (HOME);

  for (uint32_t row = 0; row < rows && *text != '\0'; row++)
    {
      const char *end = strchrnul (text, '\n');

      if (row > 0)
        g_string_append (screen, "\n");
      g_string_append_len (screen, text, end - text);
      g_string_append (screen, CLEAR_LINE);
      text = *end != '\0' ? end + 1 : end;
    }
  g_string_append (screen, CLEAR_REST);
  (void) write_text (self, screen->str, screen->len); /* drawn again at the next update */
}

/* As ^C does. */
static void
end_recording (void)
{
  (void) kill (getpid (), SIGINT);
}

/* Draws nothing while a shell has put this process into the background. */
static bool
may_draw (const Top *self)
{
  pid_t foreground = tcgetpgrp (self->options.fd);

  return foreground < 0 || foreground == getpgrp ();
}

/* Returns FALSE when there is nothing more to show. */
static bool
show (Top *self, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  Size size = get_size (self);

  if (!sysprof_live_window_read (self->window, self->recording_fd, error))
    return false;
  give_back (self);
  if (!may_draw (self) || sysprof_live_window_get_span (self->window) < LEAST_SPAN)
    return true;
  add_status (self, size, text);
  if (!add_tables (self, size, text, error))
    return false;
  if (g_cancellable_is_cancelled (self->cancellable) || atomic_load (&self->is_given_back))
    return true;

  if (self->is_screen)
    {
      show_screen (self, text->str, size.rows);
      return true;
    }
  if (self->is_second)
    g_string_prepend_c (text, '\n');
  self->is_second = true;
  if (write_text (self, text->str, text->len))
    return true;
  if (self->options.gives_back && !g_cancellable_is_cancelled (self->cancellable))
    end_recording (); /* neither shown nor kept */
  return false;
}

static void
take_key (Top *self)
{
  char key;

  if (read (STDIN_FILENO, &key, 1) != 1)
    self->keys_ended = true;
  else if (key == 'q' || key == 'Q')
    end_recording ();
}

/* Reading from a terminal in the background would stop this process. */
static bool
takes_keys_now (const Top *self)
{
  return self->has_mode && !self->keys_ended && may_draw (self);
}

/* Returns FALSE when the view must end. */
static bool
wait_until (Top *self, int64_t when)
{
  for (;;)
    {
      struct pollfd fds[2] = { { .fd = self->wake_fd, .events = POLLIN },
                               { .fd = takes_keys_now (self) ? STDIN_FILENO : -1,
                                 .events = POLLIN } };
      int64_t left = (when - g_get_monotonic_time ()) / 1000;

      if (left <= 0)
        return !g_cancellable_is_cancelled (self->cancellable);
      if (poll (fds, 2, (int) left) < 0 && errno != EINTR)
        return false;
      if (fds[0].revents != 0)
        return false;
      if ((fds[1].revents & POLLIN) != 0)
        take_key (self);
      else if (fds[1].revents != 0)
        self->keys_ended = true;
    }
}

/* Runs until the view must end, or the recording has ended. */
static bool
goes_on (Top *self, int64_t when)
{
  RecordingStatus status;

  if (!wait_until (self, when))
    return false;
  sysprof_recording_get_status (self->recording, &status);
  return !status.is_stopped;
}

static void *
top_thread (void *data)
{
  Top *self = data;
  GMainContext *context = g_main_context_new ();
  g_autoptr (GError) error = NULL;
  int64_t when = g_get_monotonic_time () + INTERVAL_MSEC * 1000;

  g_main_context_push_thread_default (context);
  g_cancellable_push_current (self->cancellable);
  while (goes_on (self, when))
    {
      int64_t begin = g_get_monotonic_time ();
      int64_t end;

      if (!show (self, &error))
        break;
      /* On a slow machine, pauses as long as the update took. */
      end = g_get_monotonic_time ();
      when = MAX (when + INTERVAL_MSEC * 1000, end + (end - begin));
    }
  g_cancellable_pop_current (self->cancellable);
  g_main_context_pop_thread_default (context);
  g_main_context_unref (context);

  sysprof_cli_top_give_terminal_back (self);
  if (error != NULL && !g_cancellable_is_cancelled (self->cancellable))
    sysprof_cli_terminal_print (&self->counts, "%s The recording continues.", error->message);
  return NULL;
}

/* --- the main thread --- */

/* Turns off line buffering and echo. Only a foreground process may do that. */
static void
take_keys (Top *self)
{
  struct termios mode;

  if (!self->options.takes_keys || tcgetpgrp (STDIN_FILENO) != getpgrp () ||
      tcgetattr (STDIN_FILENO, &self->mode) != 0)
    return;
  mode = self->mode;
  mode.c_lflag &= ~(tcflag_t) (ICANON | ECHO);
  /* A shell would find its terminal without line editing and echo. */
  mode.c_cc[VSUSP] = mode.c_cc[VQUIT] = _POSIX_VDISABLE;
  self->has_mode = tcsetattr (STDIN_FILENO, TCSANOW, &mode) == 0;
}

Top *
sysprof_cli_top_new (SysprofRecording *recording, const TopOptions *options, GError **error)
{
  Top *self = g_new0 (Top, 1);

  self->recording = g_object_ref (recording);
  self->options = *options;
  self->cancellable = g_cancellable_new ();
  self->wake_fd = eventfd (0, EFD_CLOEXEC);
  self->recording_fd = sysprof_recording_dup_written_fd (recording);
  self->window = sysprof_live_window_new (WINDOW, sysprof_live_is_process);
  self->is_screen = isatty (options->fd) != 0;
  if (self->is_screen)
    {
      take_keys (self);
      (void) sysprof_write_all (options->fd, ENTER_SCREEN, strlen (ENTER_SCREEN));
    }
  self->thread = g_thread_try_new ("sysprof-top", top_thread, self, error);
  if (self->thread != NULL)
    return self;
  g_prefix_error_literal (error, "Cannot show the recording: ");
  sysprof_cli_top_free (self);
  return NULL;
}

void
sysprof_cli_top_give_terminal_back (Top *self)
{
  if (self == NULL || atomic_exchange (&self->is_given_back, true))
    return;
  if (self->is_screen)
    (void) sysprof_write_all (self->options.fd, LEAVE_SCREEN, strlen (LEAVE_SCREEN));
  if (self->has_mode)
    (void) tcsetattr (STDIN_FILENO, TCSANOW, &self->mode);
}

bool
sysprof_cli_top_is_shown (const Top *self)
{
  return self != NULL && !atomic_load (&self->is_given_back);
}

void
sysprof_cli_top_free (Top *self)
{
  if (self == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  (void) eventfd_write (self->wake_fd, 1);
  if (self->thread != NULL)
    g_thread_join (self->thread);
  sysprof_cli_top_give_terminal_back (self);

  sysprof_live_window_free (self->window);
  g_clear_pointer (&self->symbols, g_bytes_unref);
  g_clear_pointer (&self->unnamed, g_bytes_unref);
  (void) close (self->wake_fd);
  if (self->recording_fd >= 0)
    (void) close (self->recording_fd);
  g_object_unref (self->cancellable);
  g_object_unref (self->recording);
  g_free (self);
}
