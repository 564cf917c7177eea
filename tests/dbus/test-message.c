// SPDX-License-Identifier: GPL-3.0-or-later

/* Messages of src/dbus are compared with those of GLib, which has its own implementation. */

#include "dbus/dbus.h"

#include <gio/gio.h>
#include <string.h>

#define N_DAMAGED 20000u

static BusHeader
call_header (void)
{
  return (BusHeader){ .type = BUS_METHOD_CALL,
                      .serial = 7,
                      .path = "/org/example/Path",
                      .interface = "org.example.Interface",
                      .member = "Method",
                      .destination = "org.example.Name" };
}

static void
test_glib_reads_what_is_written (void)
{
  BusHeader header = call_header ();
  BusWriter body = { 0 };
  g_autoptr (GDBusMessage) message = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *printed = NULL;
  g_autofree uint8_t *bytes = NULL;
  size_t size, array;

  sysprof_dbus_write_u8 (&body, 5);
  sysprof_dbus_write_string (&body, "text");
  array = sysprof_dbus_begin_array (&body, 8);
  for (uint32_t i = 1; i <= 2; i++)
    {
      sysprof_dbus_write_align (&body, 8);
      sysprof_dbus_write_string (&body, i == 1 ? "one" : "two");
      sysprof_dbus_write_signature (&body, "u");
      sysprof_dbus_write_u32 (&body, i);
    }
  sysprof_dbus_end_array (&body, array, 8);
  array = sysprof_dbus_begin_array (&body, 8); /* empty */
  sysprof_dbus_end_array (&body, array, 8);
  sysprof_dbus_write_u32 (&body, 9);

  header.signature = "ysa{sv}a{sv}u";
  bytes = sysprof_dbus_serialize (&header, &body, 0, &size);
  sysprof_dbus_writer_clear (&body);
  message = g_dbus_message_new_from_blob (bytes, size, G_DBUS_CAPABILITY_FLAGS_NONE, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (g_dbus_message_get_member (message), ==, "Method");
  g_assert_cmpstr (g_dbus_message_get_path (message), ==, "/org/example/Path");
  g_assert_cmpstr (g_dbus_message_get_interface (message), ==, "org.example.Interface");
  g_assert_cmpstr (g_dbus_message_get_destination (message), ==, "org.example.Name");
  g_assert_cmpuint (g_dbus_message_get_serial (message), ==, 7);
  printed = g_variant_print (g_dbus_message_get_body (message), false);
  g_assert_cmpstr (printed, ==,
                   "(0x05, 'text', {'one': <uint32 1>, 'two': <uint32 2>}, {}, 9)");
}

/* Returns a message that GLib has written. */
static uint8_t *
glib_message (GDBusMessageByteOrder order, size_t *size)
{
  g_autoptr (GDBusMessage) message = g_dbus_message_new_method_call (
      "org.example.Name", "/org/example/Path", "org.example.Interface", "Method");
  gsize n;
  uint8_t *bytes;

  g_dbus_message_set_byte_order (message, order);
  g_dbus_message_set_serial (message, 0x01020304);
  g_dbus_message_set_sender (message, ":1.7");
  g_dbus_message_set_body (
      message, g_variant_new_parsed ("({'a': <@(ia(sv)) (1, [('x', <@ay [1, 2]>)])>, "
                                     "'b': <@v <@v <true>>>}, 'text', @t 5, @ay [7, 0])"));
  bytes = g_dbus_message_to_blob (message, &n, G_DBUS_CAPABILITY_FLAGS_NONE, NULL);
  *size = n;
  return bytes;
}

static void
check_reading (GDBusMessageByteOrder order)
{
  size_t size, end;
  uint8_t *bytes = glib_message (order, &size);
  BusMessage *message;

  g_assert_cmpuint (sysprof_dbus_message_size (bytes), ==, size);
  message = sysprof_dbus_message_new (bytes, size);
  g_assert_nonnull (message);
  g_assert_cmpint (message->type, ==, BUS_METHOD_CALL);
  g_assert_cmpuint (message->serial, ==, 0x01020304);
  g_assert_cmpstr (message->sender, ==, ":1.7");
  g_assert_cmpstr (message->member, ==, "Method");
  g_assert_cmpstr (message->signature, ==, "a{sv}stay");

  end = sysprof_dbus_read_array (&message->body, 8);
  for (const char *key = "a"; message->body.at < end; key = "b")
    {
      sysprof_dbus_read_align (&message->body, 8);
      g_assert_cmpstr (sysprof_dbus_read_string (&message->body), ==, key);
      sysprof_dbus_skip (&message->body, "v");
    }
  g_assert_cmpstr (sysprof_dbus_read_string (&message->body), ==, "text");
  g_assert_cmpuint (sysprof_dbus_read_u64 (&message->body), ==, 5);
  end = sysprof_dbus_read_array (&message->body, 1);
  g_assert_cmpuint (end - message->body.at, ==, 2);
  g_assert_cmpuint (sysprof_dbus_read_u8 (&message->body), ==, 7);
  g_assert_cmpuint (sysprof_dbus_read_u8 (&message->body), ==, 0);
  g_assert_false (message->body.is_failed);
  g_assert_cmpuint (sysprof_dbus_read_u8 (&message->body), ==, 0);
  g_assert_true (message->body.is_failed);
  sysprof_dbus_message_free (message);
}

static void
test_reads_what_glib_writes (void)
{
  check_reading (G_DBUS_MESSAGE_BYTE_ORDER_LITTLE_ENDIAN);
  check_reading (G_DBUS_MESSAGE_BYTE_ORDER_BIG_ENDIAN);
}

static void
test_limits_nesting (void)
{
  char deep[2 * BUS_MOST_DEPTH + 2];
  const uint8_t zeros[64] = { 0 };
  BusReader reader = { zeros, sizeof zeros, 0, false, false };
  uint8_t variants[3 * (BUS_MOST_DEPTH + 8)];
  BusReader nested = { variants, sizeof variants, 0, false, false };

  memset (deep, 'a', sizeof deep);
  deep[sizeof deep - 2] = 'y';
  deep[sizeof deep - 1] = '\0';
  sysprof_dbus_skip (&reader, deep);
  g_assert_true (reader.is_failed);

  for (size_t i = 0; i < sizeof variants; i += 3)
    memcpy (variants + i, "\1v", 3);
  sysprof_dbus_skip (&nested, "v");
  g_assert_true (nested.is_failed);
}

static void
test_refuses_invalid_types (void)
{
  static const char *const invalid[] = { "", "(", "(y", "a", "{", "z", "a{s", ")" };

  for (size_t i = 0; i < G_N_ELEMENTS (invalid); i++)
    {
      const uint8_t zeros[64] = { 0 };
      BusReader reader = { zeros, sizeof zeros, 0, false, false };

      sysprof_dbus_skip (&reader, invalid[i]);
      g_assert_true (reader.is_failed);
    }
}

/* No read leaves the message: the sanitizer checks that. */
static void
test_survives_damage (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  size_t size;
  g_autofree uint8_t *whole = glib_message (G_DBUS_MESSAGE_BYTE_ORDER_LITTLE_ENDIAN, &size);
  unsigned n_valid = 0;

  for (unsigned i = 0; i < N_DAMAGED; i++)
    {
      uint8_t *bytes = g_memdup2 (whole, size);
      size_t kept = (i & 1) != 0 ? (size_t) g_rand_int_range (random, 0, (int) size) : size;
      BusMessage *message;

      for (unsigned n = 0; n < i % 4; n++)
        bytes[g_rand_int_range (random, 0, (int) size)] = (uint8_t) g_rand_int (random);
      bytes = g_realloc (bytes, MAX (kept, 1));
      message = sysprof_dbus_message_new (bytes, kept);
      if (message == NULL)
        continue;
      n_valid++;
      sysprof_dbus_skip (&message->body, "a{sv}");
      sysprof_dbus_skip (&message->body, "s");
      sysprof_dbus_message_free (message);
    }
  g_assert_cmpuint (n_valid, >, N_DAMAGED / 20);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/dbus/glib-reads-what-is-written", test_glib_reads_what_is_written);
  g_test_add_func ("/dbus/reads-what-glib-writes", test_reads_what_glib_writes);
  g_test_add_func ("/dbus/limits-nesting", test_limits_nesting);
  g_test_add_func ("/dbus/refuses-invalid-types", test_refuses_invalid_types);
  g_test_add_func ("/dbus/survives-damage", test_survives_damage);
  return g_test_run ();
}
