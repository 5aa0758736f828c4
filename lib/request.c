/* SPDX-License-Identifier: 0BSD OR MIT */
/* Parses the names in the environment variable CPUCYCLES_IMPLEMENTATION, and describes those that
   could not be used. select.c applies the list. */

#include "config.h"

#include "lib/request.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char separators[] = ", \t\r\n";

/* Returns the next name of the list, or NULL. */
static const char *next_name(const char **list, size_t *length)
{
  const char *name = *list + strspn(*list, separators);

  *length = strcspn(name, separators);
  *list = name + *length;
  return *length > 0 ? name : NULL;
}

int cpuc_request_includes(const char *list, const char *counter)
{
  const char *name;
  size_t length;

  while ((name = next_name(&list, &length)) != NULL)
    if (length == strlen(counter) && strncmp(name, counter, length) == 0)
      return 1;
  return 0;
}

static struct cpuc_candidate *find(struct cpuc_candidate *candidates, int count, const char *name,
  size_t length)
{
  int i;

  for (i = 0; i < count; i++)
    if (strlen(candidates[i].info.name) == length
      && strncmp(candidates[i].info.name, name, length) == 0)
      return &candidates[i];
  return NULL;
}

/* Copies a name from the list, cut to size. Replaces characters that are not printable with '?'. */
static void copy_printable(char *shown, size_t size, const char *name, size_t length)
{
  size_t i;

  for (i = 0; i < length && i < size - 1; i++)
    shown[i] = name[i] > ' ' && name[i] <= '~' ? name[i] : '?';
  shown[i] = 0;
  if (length > i)
    memcpy(shown + i - 3, "...", 3);
}

/* Appends a name and the reason why it was ignored. If there is no room for them, appends "and
   others" and returns 0. */
static int append(char *text, size_t size, const char *name, const char *why, const char *reason)
{
  static const char others[] = "; and others";
  size_t used = strlen(text), room = size - used - sizeof others;
  int length = snprintf(text + used, room, "%s%s %s%s%s", used ? "; " : "", name, why,
    reason ? ": " : "", reason ? reason : "");

  if (length >= 0 && (size_t)length < room)
    return 1;
  memcpy(text + used, others, sizeof others);
  return 0;
}

void cpuc_request_describe_unusable(const char *list, struct cpuc_candidate *candidates, int count,
  char *text, int size)
{
  struct cpuc_candidate *candidate;
  const char *name;
  size_t length;
  int more = 1;

  *text = 0;
  while (more && (name = next_name(&list, &length)) != NULL) {
    char shown[32];

    copy_printable(shown, sizeof shown, name, length);
    candidate = find(candidates, count, name, length);
    if (!candidate)
      more = append(text, (size_t)size, shown, "is not a counter of this library", NULL);
    else if (candidate->info.state == CPUCYCLES_DROPPED) {
      cpuc_candidate_explain(candidate);
      more = append(text, (size_t)size, shown, "does not work here", candidate->info.reason);
    }
  }
}
