// SPDX-License-Identifier: GPL-3.0-or-later

/* Finds the layers of Podman containers. Each user has one storage directory:
 *
 *   overlay-containers/containers.json  a container's own layer, and its image
 *   overlay-images/images.json          an image's topmost layer
 *   overlay-layers/layers.json          a layer's parent
 *   overlay/LAYER/diff                  a layer's files
 *
 * Next to each list there may be a second one with the entries that do not survive a reboot.
 * The lists are untrusted. One child process opens them, another one without privileges parses
 * them, and its answer is only used if it is a valid layer ID.
 *
 * Source: containers-storage(1), docs/format.md. */

#include "locate/container-storage.h"

#include "locate/json-find.h"
#include "locate/open-file.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ID_SIZE     64 /* hexadecimal digits */
#define MOST_LAYERS 256
#define MOST_JSON   (32 << 20) /* bytes per list */
/* ms for all lists together: symbolizing the other files is more important */
#define MOST_TIME     10000
#define MOST_USER     (1 << 16) /* bytes of a user's passwd entry */
#define SYSTEM_PATH   "/var/lib/containers/storage"
#define HOME_PATH     ".local/share/containers/storage"
#define CONTAINER     "libpod-"
#define USER_OF_GROUP "/user@"

typedef struct
{
  char id[ID_SIZE + 1];
} Question;

typedef struct
{
  char layer[ID_SIZE + 1]; /* each "" = none */
  char image[ID_SIZE + 1];
  char parent[ID_SIZE + 1];
} Answer;

static bool
is_id (Text text)
{
  if (sysprof_text_size (text) != ID_SIZE)
    return false;
  for (const char *at = text.at; at < text.end; at++)
    if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f')))
      return false;
  return true;
}

/* --- the child: plain C --- */

static void
copy_id (char id[ID_SIZE + 1], Text text)
{
  if (is_id (text))
    memcpy (id, text.at, ID_SIZE);
}

static size_t
read_list (int fd, char *json)
{
  size_t size = 0;
  ssize_t n;

  while (size < MOST_JSON && (n = pread (fd, json + size, MOST_JSON - size, (off_t) size)) > 0)
    size += (size_t) n;
  return size;
}

static bool
handle (ChildRequest *request, ChildReply *reply)
{
  const Question *question = request->bytes; /* its ID ends with NUL */
  char *json = request->fd >= 0 ? malloc (MOST_JSON) : NULL;
  Answer *answer = calloc (1, sizeof *answer);
  StorageEntry entry;

  if (json != NULL && answer != NULL &&
      sysprof_json_find_entry ((Text){ json, json + read_list (request->fd, json) },
                               question->id, &entry))
    {
      copy_id (answer->layer, entry.layer);
      copy_id (answer->image, entry.image);
      copy_id (answer->parent, entry.parent);
    }
  free (json);
  sysprof_child_reply_set (reply, 0, answer, sizeof *answer);
  return answer != NULL;
}

static const ChildService service = {
  .name = "container storage",
  .request_size = sizeof (Question),
  .timeout_msec = 2000,
  .takes_envelopes = true,
  .reply_size = sizeof (Answer),
  .handle = handle,
};

/* --- the parent --- */

static bool
is_answer_id (const char id[ID_SIZE + 1])
{
  return memchr (id, 0, ID_SIZE + 1) == id + ID_SIZE && is_id ((Text){ id, id + ID_SIZE });
}

/* Returns FALSE if the list is missing, or has no entry `id`. */
static bool
ask_list (ContainerStorage *self, const char *path, const char *id, Answer *answer)
{
  bool is_late = sysprof_confined_child_deadline (0) >= self->deadline_msec;
  struct stat info;
  autofd envelope = is_late ? -1
                            : sysprof_open_file (&self->opener, OPEN_REGULAR_FILE,
                                                 READER_OURSELVES, -1, path, &info);
  Question question = { 0 };
  ChildReply reply;
  bool has_entry = false;

  if (envelope < 0)
    return false;

  self->parser.has_stop_fd = self->opener.has_stop_fd;
  self->parser.stop_fd = self->opener.stop_fd;
  (void) g_strlcpy (question.id, id, sizeof question.id);
  if (sysprof_child_call (&self->parser, &service,
                          &(ChildRequest){ .bytes = &question,
                                           .fd = envelope,
                                           .deadline_msec = self->deadline_msec },
                          &reply))
    {
      memcpy (answer, reply.part[0].bytes, sizeof *answer);
      has_entry = is_answer_id (answer->layer) || is_answer_id (answer->parent);
    }
  sysprof_child_reply_clear (&reply);
  return has_entry;
}

/* `kind`: "containers", "images" or "layers". */
static bool
ask_storage (ContainerStorage *self,
             const char *storage,
             const char *kind,
             const char *id,
             Answer *answer)
{
  g_autofree char *lasting = g_strdup_printf ("%s/overlay-%s/%s.json", storage, kind, kind);
  g_autofree char *passing =
      g_strdup_printf ("%s/overlay-%s/volatile-%s.json", storage, kind, kind);

  return ask_list (self, lasting, id, answer) || ask_list (self, passing, id, answer);
}

static void
clear_layer (void *data)
{
  OverlayLayer *layer = data;

  g_free (layer->source);
  g_free (layer->target);
}

/* Adds the layer, its parent, its parent's parent, and so on. */
static void
add_chain (ContainerStorage *self, GArray *layers, const char *storage, const char *first)
{
  char id[ID_SIZE + 1];

  (void) g_strlcpy (id, first, sizeof id);
  while (is_answer_id (id) && layers->len < MOST_LAYERS)
    {
      OverlayLayer layer = { g_build_filename (storage, "overlay", id, "diff", NULL),
                             g_strdup ("/"), (uint8_t) layers->len };
      Answer answer;

      g_array_append_val (layers, layer);
      if (!ask_storage (self, storage, "layers", id, &answer) || !is_answer_id (answer.parent))
        return;
      memcpy (id, answer.parent, sizeof id);
    }
}

/* Returns NULL if the storage does not contain the container. */
static GArray *
find_in_storage (ContainerStorage *self, const char *storage, const char *id)
{
  Answer container, image;
  GArray *layers;

  if (!ask_storage (self, storage, "containers", id, &container))
    return NULL;

  layers = g_array_new (FALSE, FALSE, sizeof (OverlayLayer));
  g_array_set_clear_func (layers, clear_layer);
  add_chain (self, layers, storage, container.layer);
  if (is_answer_id (container.image) &&
      ask_storage (self, storage, "images", container.image, &image))
    add_chain (self, layers, storage, image.layer);
  return layers;
}

/* Returns NULL if the text names no container. */
static char *
find_container (Text cgroup)
{
  const char *at = cgroup.at;
  size_t length = strlen (CONTAINER);

  while (at != NULL &&
         (at = memmem (at, (size_t) (cgroup.end - at), CONTAINER, length)) != NULL)
    {
      at += length;
      if (cgroup.end - at >= ID_SIZE && is_id ((Text){ at, at + ID_SIZE }))
        return g_strndup (at, ID_SIZE);
    }
  return NULL;
}

/* Finds the user whose part of the tree contains the cgroup. Returns FALSE if there is none. */
static bool
find_user (Text cgroup, uid_t *user)
{
  const char *at =
      memmem (cgroup.at, sysprof_text_size (cgroup), USER_OF_GROUP, strlen (USER_OF_GROUP));
  uint64_t number;
  Text text;

  if (at == NULL)
    return false;
  text = (Text){ at + strlen (USER_OF_GROUP), cgroup.end };
  if (!sysprof_text_u64 (&text, &number) || number > UINT32_MAX)
    return false;

  *user = (uid_t) number;
  return true;
}

/* Returns NULL if the user's home directory is unknown. */
static char *
find_storage_of_user (uid_t number)
{
  g_autofree char *text = g_malloc (MOST_USER);
  struct passwd user, *found = NULL;

  if (getpwuid_r (number, &user, text, MOST_USER, &found) != 0 || found == NULL)
    return NULL;
  return g_build_filename (user.pw_dir, HOME_PATH, NULL);
}

/* Returns NULL if no storage contains the container. */
static GArray *
find_layers (ContainerStorage *self, const char *id, const uid_t *user)
{
  g_autofree char *of_user = user != NULL ? find_storage_of_user (*user) : NULL;
  g_autofree char *own =
      g_build_filename (g_get_user_data_dir (), "containers", "storage", NULL);
  const char *storages[] = { own, SYSTEM_PATH, of_user };
  GArray *layers = NULL;

  for (size_t i = 0; i < G_N_ELEMENTS (storages) && layers == NULL; i++)
    if (storages[i] != NULL)
      layers = find_in_storage (self, storages[i], id);
  return layers;
}

GArray *
sysprof_container_storage_find (ContainerStorage *self, Text cgroup)
{
  g_autofree char *id = find_container (cgroup);
  g_autofree char *key = NULL;
  uid_t user;
  bool has_user;
  void *found;

  if (id == NULL)
    return NULL;

  has_user = find_user (cgroup, &user);
  key = has_user ? g_strdup_printf ("%s %u", id, user) : g_strdup (id);
  if (!g_hash_table_lookup_extended (self->found, key, NULL, &found))
    {
      self->deadline_msec = sysprof_confined_child_deadline (self->left_msec);
      found = find_layers (self, id, has_user ? &user : NULL);
      self->left_msec = MAX (self->deadline_msec - sysprof_confined_child_deadline (0), 0);
      g_hash_table_insert (self->found, g_steal_pointer (&key), found);
    }
  return found;
}

static void
free_layers (void *layers)
{
  if (layers != NULL)
    g_array_unref (layers);
}

void
sysprof_container_storage_init (ContainerStorage *self, int stop_fd)
{
  *self = (ContainerStorage){
    .opener = OPENER_INIT,
    .parser = CONFINED_CHILD_INIT,
    .found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_layers),
    .left_msec = MOST_TIME,
  };
  self->opener.stop_fd = stop_fd;
  self->opener.has_stop_fd = stop_fd >= 0;
}

void
sysprof_container_storage_clear (ContainerStorage *self)
{
  sysprof_opener_clear (&self->opener);
  sysprof_confined_child_end (&self->parser);
  g_clear_pointer (&self->found, g_hash_table_unref);
}
