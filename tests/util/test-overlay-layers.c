// SPDX-License-Identifier: GPL-3.0-or-later

/* Lines as Docker's and Podman's containers have them, the same written otherwise as the kernel may (overlayfs.rst: colons that belong
 * to a name, "lowerdir+"), and what is no line. Expected is what the documentation says that they mean. */

#include "util/overlay-layers.h"

#define DOCKER "/var/lib/docker/overlay2/"

typedef struct
{
  const char *text;
  OverlayLayer expected[8]; /* ends with a NULL */
} Case;

/* clang-format off */
static const Case cases[] = {
  { "726 602 0:52 / / rw,relatime master:279 - overlay overlay rw,lowerdir=" DOCKER "l/ABC:" DOCKER "l/DEF,upperdir=" DOCKER
    "8a1b/diff,workdir=" DOCKER "8a1b/work\n"
    "727 726 0:55 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n",
    { { (char *) DOCKER "8a1b/diff", (char *) "/", 0 }, { (char *) DOCKER "l/ABC", (char *) "/", 1 },
      { (char *) DOCKER "l/DEF", (char *) "/", 2 } } },
  { "1 2 0:5 / /a\\040b rw shared:1 master:2 - overlay none ro,lowerdir=/with\\040blank:/with\\054comma:/with\\134:colon\n",
    { { (char *) "/with blank", (char *) "/a b", 0 }, { (char *) "/with,comma", (char *) "/a b", 1 },
      { (char *) "/with:colon", (char *) "/a b", 2 } } },
  { "1 2 0:5 / / rw - overlay overlay rw,upperdir=/up,workdir=/w,lowerdir+=/one,lowerdir+=/two:2\n",
    { { (char *) "/up", (char *) "/", 0 }, { (char *) "/one", (char *) "/", 1 }, { (char *) "/two:2", (char *) "/", 2 } } },
  /* Relative paths are layers, but with an unknown location; data-only layers follow two
   * colons. */
  { "1 2 0:5 / / rw - overlay overlay rw,lowerdir=l/ABC:/abs::/data\n",
    { { (char *) "/abs", (char *) "/", 1 }, { (char *) "/data", (char *) "/", 2 } } },
  /* A part of an overlay, mounted elsewhere. */
  { "1 2 0:5 /usr /mnt rw - overlay overlay rw,lowerdir=/x\n", { { (char *) "/x/usr", (char *) "/mnt", 0 } } },
  { "726 602 8:1 / / rw - ext4 /dev/sda1 rw,lowerdir=/x\n", { { NULL } } },
  { "1 2 0:5 / / rw - overlay\n", { { NULL } } },
  { "1 2 0:5 / / rw overlay overlay lowerdir=/x\n", { { NULL } } },
  { "1 2 0:5 / / rw - overlay overlay rw,lowerdir=,upperdir=\n", { { NULL } } },
  { "-\n\n1 2", { { NULL } } },
  { "", { { NULL } } },
};
/* clang-format on */

static void
test_reads (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GArray) layers =
          sysprof_overlay_layers_parse (sysprof_text_from_string (cases[i].text));
      guint n = 0;

      for (; cases[i].expected[n].source != NULL; n++)
        {
          const OverlayLayer *layer;

          g_assert_nonnull (layers);
          g_assert_cmpuint (n, <, layers->len);
          layer = &g_array_index (layers, OverlayLayer, n);
          g_assert_cmpstr (layer->source, ==, cases[i].expected[n].source);
          g_assert_cmpstr (layer->target, ==, cases[i].expected[n].target);
          g_assert_cmpuint (layer->layer, ==, cases[i].expected[n].layer);
        }
      g_assert_cmpuint (layers != NULL ? layers->len : 0, ==, n);
    }
}

/* The number of a layer has eight bits, a frame 16384 bytes. */
static void
test_leaves_out_what_has_no_room (void)
{
  GString *line = g_string_new ("1 2 0:5 / / rw - overlay overlay rw,lowerdir=/0");
  g_autoptr (GArray) layers = NULL;

  for (int i = 1; i < 300; i++)
    g_string_append_printf (line, ":/%d", i);
  layers = sysprof_overlay_layers_parse (sysprof_text_from_string (line->str));
  g_assert_cmpuint (layers->len, ==, 256);
  g_assert_cmpstr (g_array_index (layers, OverlayLayer, 255).source, ==, "/255");
  g_string_assign (line, "1 2 0:5 / / rw - overlay overlay rw,lowerdir=/");
  for (int i = 0; i < 16000; i++)
    g_string_append_c (line, 'x');
  g_assert_null (sysprof_overlay_layers_parse (sysprof_text_from_string (line->str)));
  g_string_free (line, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/util/overlay-layers/reads", test_reads);
  g_test_add_func ("/util/overlay-layers/leaves-out-what-has-no-room",
                   test_leaves_out_what_has_no_room);
  return g_test_run ();
}
