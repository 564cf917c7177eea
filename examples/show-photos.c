// SPDX-License-Identifier: GPL-3.0-or-later

/* A photo viewer that reports to Sysprof what it does: marks, counters, messages, allocations.
 *
 * Three threads compute photos and put them into a cache, whose lock they hold while they write
 * its index. The window scrolls over the photos that are ready. The cache also answers on the
 * session bus. The program ends by itself. */

#include <sysprof-capture.h>

#include <execinfo.h>
#include <gtk/gtk.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define N_PHOTOS    400
#define N_WORKERS   3
#define SIZE        192 /* px of a photo, each way */
#define BLOCK       8   /* px of a block of the codec */
#define AHEAD       16  /* photos that are loaded before they are visible */
#define KEPT        48  /* photos in the cache */
#define TOUR_USEC   (11 * G_USEC_PER_SEC)
#define OWN_ENTRIES 3 /* of stacks: the collector */
#define NAME        "org.example.Photos"
#define PATH        "/org/example/Photos"
#define BYTES       (SIZE * SIZE * 4)

enum
{
  COUNT_READY,
  COUNT_WAITING,
  COUNT_BYTES,
  N_COUNTS,
};

typedef struct
{
  int number;
  guchar *pixels;
} Photo;

static GMutex cache_lock;
static Photo cache[KEPT];
static int n_ready, n_waiting;
static unsigned counter_ids[N_COUNTS];
static char *index_path;
static GtkWidget *grid, *scroller;
static GThreadPool *pool;
static int n_requested;
static gint64 tour_start;

/* --- reports --- */

static int
get_stack (SysprofCaptureAddress *addresses, unsigned n, void *data)
{
  void *stack[32];
  int found = backtrace (stack, (int) MIN (n, G_N_ELEMENTS (stack)));
  int n_kept = MAX (found - OWN_ENTRIES, 0);

  for (int i = 0; i < n_kept; i++)
    addresses[i] = (SysprofCaptureAddress) (uintptr_t) stack[i + OWN_ENTRIES];
  return n_kept;
}

static void *
allocate (size_t size)
{
  void *memory = g_malloc (size);

  sysprof_collector_allocate ((SysprofCaptureAddress) (uintptr_t) memory, (int64_t) size,
                              get_stack, NULL);
  return memory;
}

static void
release (void *memory)
{
  if (memory != NULL)
    sysprof_collector_allocate ((SysprofCaptureAddress) (uintptr_t) memory, 0, NULL, NULL);
  g_free (memory);
}

static void
define_counters (void)
{
  static const struct
  {
    const char *name, *description;
  } rows[N_COUNTS] = {
    { "Ready", "Photos that were decoded" },
    { "Waiting", "Photos that wait for a thread" },
    { "Cache", "Bytes of decoded photos" },
  };
  SysprofCaptureCounter counters[N_COUNTS] = { 0 };
  unsigned first = sysprof_collector_request_counters (N_COUNTS);

  for (unsigned i = 0; i < N_COUNTS; i++)
    {
      g_strlcpy (counters[i].category, "Photos", sizeof counters[i].category);
      g_strlcpy (counters[i].name, rows[i].name, sizeof counters[i].name);
      g_strlcpy (counters[i].description, rows[i].description, sizeof counters[i].description);
      counter_ids[i] = first + i;
      counters[i].id = (first + i) & 0xffffff;
      counters[i].type = SYSPROF_CAPTURE_COUNTER_INT64;
    }
  sysprof_collector_define_counters (counters, N_COUNTS);
}

static void
count (void)
{
  SysprofCaptureCounterValue values[N_COUNTS] = {
    [COUNT_READY].v64 = n_ready,
    [COUNT_WAITING].v64 = n_waiting,
    [COUNT_BYTES].v64 = (int64_t) MIN (n_ready, KEPT) * BYTES,
  };

  sysprof_collector_set_counters (counter_ids, values, N_COUNTS);
}

static void
mark (gint64 start, const char *name, int photo)
{
  sysprof_collector_mark_printf (start, SYSPROF_CAPTURE_CURRENT_TIME - start, "photos", name,
                                 "IMG_%04d.jpg", 2100 + photo);
}

/* --- codec --- */

__attribute__ ((noinline)) static float
transform_block (const float *in, float *out, int rounds)
{
  float sum = 0;

  for (int round = 0; round < rounds; round++)
    for (int u = 0; u < BLOCK; u++)
      for (int x = 0; x < BLOCK; x++)
        {
          out[x * BLOCK + u] = in[u * BLOCK + x] * cosf ((float) (u * (2 * x + 1)) * 0.196f);
          sum += out[x * BLOCK + u];
        }
  return sum;
}

__attribute__ ((noinline)) static void
read_entropy (float *block, guint32 *seed)
{
  for (int i = 0; i < BLOCK * BLOCK; i++)
    {
      *seed = *seed * 1664525 + 1013904223;
      block[i] = (float) (*seed >> 24) / (float) (1 + i);
    }
}

__attribute__ ((noinline)) static void
convert_colors (guchar *pixels, int number)
{
  for (int y = 0; y < SIZE; y++)
    for (int x = 0; x < SIZE; x++)
      {
        guchar *pixel = pixels + (y * SIZE + x) * 4;
        float light = (float) pixel[3] / 255;

        pixel[0] = (guchar) (255 * light * powf ((float) x / SIZE, 0.45f));
        pixel[1] = (guchar) (200 * light * powf ((float) y / SIZE, 0.45f));
        pixel[2] = (guchar) ((number * 37) & 255);
        pixel[3] = 255;
      }
}

__attribute__ ((noinline)) static void
decode_photo (Photo *photo)
{
  gint64 start = SYSPROF_CAPTURE_CURRENT_TIME;
  float *block = allocate (sizeof (float) * BLOCK * BLOCK);
  float *result = allocate (sizeof (float) * BLOCK * BLOCK);
  guint32 seed = (guint32) photo->number * 7919;

  photo->pixels = allocate (BYTES);
  for (int y = 0; y < SIZE; y += BLOCK)
    for (int x = 0; x < SIZE; x += BLOCK)
      {
        read_entropy (block, &seed);
        result[0] += transform_block (block, result, 150);
        for (int i = 0; i < BLOCK * BLOCK; i++)
          photo->pixels[((y + i / BLOCK) * SIZE + x + i % BLOCK) * 4 + 3] =
              (guchar) (160 + (int) fabsf (result[i]) % 95);
      }
  convert_colors (photo->pixels, photo->number);
  release (block);
  release (result);
  mark (start, "decode", photo->number);
}

__attribute__ ((noinline)) static void
blur_edges (Photo *photo)
{
  gint64 start = SYSPROF_CAPTURE_CURRENT_TIME;
  guchar *copy = allocate (BYTES);

  memcpy (copy, photo->pixels, BYTES);
  for (int round = 0; round < 12; round++)
    for (int i = SIZE * 4; i < BYTES - SIZE * 4; i++)
      photo->pixels[i] = (guchar) ((copy[i - 4] + copy[i + 4] + copy[i - SIZE * 4] +
                                    copy[i + SIZE * 4] + 4 * photo->pixels[i]) /
                                   8);
  release (copy);
  mark (start, "blur", photo->number);
}

/* --- cache --- */

__attribute__ ((noinline)) static void
write_index (void)
{
  gint64 start = SYSPROF_CAPTURE_CURRENT_TIME;
  FILE *file = fopen (index_path, "w");

  if (file == NULL)
    return;
  for (int i = 0; i < KEPT * 40; i++)
    fprintf (file, "%d IMG_%04d.jpg %d bytes\n", i, cache[i % KEPT].number, BYTES);
  fflush (file);
  (void) fsync (fileno (file));
  fclose (file);
  sysprof_collector_mark (start, SYSPROF_CAPTURE_CURRENT_TIME - start, "cache", "write index",
                          "index.txt");
}

__attribute__ ((noinline)) static void
store_in_cache (const Photo *photo)
{
  Photo *place = &cache[photo->number % KEPT];
  gint64 start = SYSPROF_CAPTURE_CURRENT_TIME;

  g_mutex_lock (&cache_lock);
  release (place->pixels);
  *place = *photo;
  n_ready++;
  n_waiting--;
  count ();
  if (n_ready % 4 == 0)
    write_index ();
  g_mutex_unlock (&cache_lock);
  mark (start, "store", photo->number);
}

/* --- window --- */

static void
draw_photo (GtkDrawingArea *area, cairo_t *cairo, int width, int height, gpointer surface)
{
  cairo_set_source_surface (cairo, surface, (width - SIZE) / 2, 0);
  cairo_paint (cairo);
}

static gboolean
show_photo (gpointer data)
{
  int number = GPOINTER_TO_INT (data);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, SIZE, SIZE);
  GtkWidget *area = gtk_drawing_area_new ();

  g_mutex_lock (&cache_lock);
  memcpy (cairo_image_surface_get_data (surface), cache[number % KEPT].pixels, BYTES);
  g_mutex_unlock (&cache_lock);
  cairo_surface_mark_dirty (surface);
  gtk_widget_set_size_request (area, SIZE, SIZE);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), draw_photo, surface,
                                  (GDestroyNotify) cairo_surface_destroy);
  gtk_flow_box_append (GTK_FLOW_BOX (grid), area);
  return G_SOURCE_REMOVE;
}

static void
load_photo (gpointer data, gpointer user_data)
{
  Photo photo = { GPOINTER_TO_INT (data) - 1, NULL };

  if (photo.number % 23 == 5)
    sysprof_collector_log_printf (G_LOG_LEVEL_WARNING, "photos-codec",
                                  "IMG_%04d.jpg: color profile is not supported, sRGB is used",
                                  2100 + photo.number);
  decode_photo (&photo);
  blur_edges (&photo);
  store_in_cache (&photo);
  if (photo.number % 40 == 39)
    sysprof_collector_log_printf (G_LOG_LEVEL_MESSAGE, "photos", "%d of %d photos are ready",
                                  n_ready, N_PHOTOS);
  g_idle_add (show_photo, GINT_TO_POINTER (photo.number));
}

static gboolean
scroll (GtkWidget *widget, GdkFrameClock *clock, gpointer application)
{
  GtkAdjustment *place = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller));
  double share = (double) (g_get_monotonic_time () - tour_start) / TOUR_USEC;

  gtk_adjustment_set_value (place, gtk_adjustment_get_upper (place) * MIN (share, 1));
  while (n_requested < N_PHOTOS && n_requested < AHEAD + (int) (share * N_PHOTOS))
    {
      g_mutex_lock (&cache_lock);
      n_waiting++;
      count ();
      g_mutex_unlock (&cache_lock);
      g_thread_pool_push (pool, GINT_TO_POINTER (++n_requested), NULL);
    }
  if (share < 1)
    return G_SOURCE_CONTINUE;
  sysprof_collector_log (G_LOG_LEVEL_INFO, "photos", "The album was shown");
  g_application_quit (application);
  return G_SOURCE_REMOVE;
}

/* --- session bus --- */

static gpointer
serve (gpointer invocation)
{
  g_autofree char *text = NULL;

  g_mutex_lock (&cache_lock);
  text = g_strdup_printf ("%d photos", n_ready);
  g_mutex_unlock (&cache_lock);
  g_dbus_method_invocation_return_value (invocation, g_variant_new ("(s)", text));
  return NULL;
}

static void
call (GDBusConnection *connection,
      const char *sender,
      const char *path,
      const char *interface,
      const char *method,
      GVariant *parameters,
      GDBusMethodInvocation *invocation,
      gpointer data)
{
  g_thread_unref (g_thread_new ("search", serve, invocation));
}

static const GDBusInterfaceVTable interface_table = { .method_call = call };

static void
start (GtkApplication *application)
{
  static const char description[] = "<node><interface name='org.example.Photos.Index'>"
                                    "<method name='Search'><arg type='s' name='words'/>"
                                    "<arg type='s' name='found' direction='out'/></method>"
                                    "</interface></node>";
  g_autoptr (GDBusNodeInfo) node = g_dbus_node_info_new_for_xml (description, NULL);
  GDBusConnection *bus = g_application_get_dbus_connection (G_APPLICATION (application));
  GtkWidget *window = gtk_application_window_new (application);

  if (bus != NULL)
    g_dbus_connection_register_object (bus, PATH "/Index", node->interfaces[0],
                                       &interface_table, NULL, NULL, NULL);
  sysprof_collector_log (G_LOG_LEVEL_MESSAGE, "photos", "Opening the album “Coast”");
  grid = gtk_flow_box_new ();
  scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), grid);
  gtk_window_set_child (GTK_WINDOW (window), scroller);
  gtk_window_set_default_size (GTK_WINDOW (window), 900, 700);
  gtk_window_present (GTK_WINDOW (window));
  pool = g_thread_pool_new (load_photo, NULL, N_WORKERS, TRUE, NULL);
  tour_start = g_get_monotonic_time ();
  gtk_widget_add_tick_callback (scroller, scroll, application, NULL);
}

int
main (int argc, char **argv)
{
  g_autoptr (GtkApplication) application = gtk_application_new (NAME, 0);

  sysprof_collector_init ();
  define_counters ();
  index_path = g_build_filename (g_get_user_cache_dir (), "index.txt", NULL);
  g_signal_connect (application, "activate", G_CALLBACK (start), NULL);
  return g_application_run (G_APPLICATION (application), argc, argv);
}
