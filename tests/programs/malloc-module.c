/* SPDX-License-Identifier: 0BSD OR MIT */
/* An allocator to preload: hands out a static room and takes nothing back; refuses what it is told
   to refuse, and calls what it is told to call, as an allocator that measures itself would. */

#include "tests/programs/malloc-module.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHOWN __attribute__((visibility("default")))

enum { ROOM = 1 << 24, UNIT = 64 };

/* Where each piece begins, its size stands before it. */
static _Alignas(UNIT) unsigned char room[ROOM];
static size_t used;

SHOWN struct malloc_orders malloc_orders;

SHOWN void *malloc(size_t size);
SHOWN void *calloc(size_t count, size_t size);
SHOWN void *realloc(void *old, size_t size);
SHOWN void free(void *piece);
SHOWN void *aligned_alloc(size_t alignment, size_t size);
SHOWN void *memalign(size_t alignment, size_t size);
SHOWN int posix_memalign(void **piece, size_t alignment, size_t size);

static int is_refused(void)
{
  long number;

  if (!__atomic_load_n(&malloc_orders.active, __ATOMIC_ACQUIRE))
    return 0;
  number = __atomic_add_fetch(&malloc_orders.asked, 1, __ATOMIC_RELAXED);
  if (malloc_orders.call)
    (void)malloc_orders.call();
  return number >= malloc_orders.first && number <= malloc_orders.last;
}

static void *take(size_t alignment, size_t size)
{
  size_t whole, at;

  if (size > ROOM || alignment > ROOM / 4)
    return NULL;
  if (alignment < UNIT)
    alignment = UNIT;
  whole = UNIT + alignment + (size + UNIT - 1) / UNIT * UNIT;
  at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
  if (at > ROOM - whole)
    return NULL;
  at += UNIT + (alignment - (at + UNIT) % alignment) % alignment;
  memcpy(room + at - sizeof size, &size, sizeof size);
  return room + at;
}

void *memalign(size_t alignment, size_t size)
{
  void *piece = is_refused() ? NULL : take(alignment, size);

  if (!piece)
    errno = ENOMEM;
  return piece;
}

void *malloc(size_t size)
{
  return memalign(UNIT, size);
}

/* The room is zero, and nothing of it is handed out twice. */
void *calloc(size_t count, size_t size)
{
  if (size > 0 && count > ROOM / size) {
    errno = ENOMEM;
    return NULL;
  }
  return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
  size_t before = 0;
  void *piece = malloc(size);

  if (old)
    memcpy(&before, (unsigned char *)old - sizeof before, sizeof before);
  if (piece && old)
    memcpy(piece, old, before < size ? before : size);
  return piece;
}

void free(void *piece)
{
  (void)piece;
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return memalign(alignment, size);
}

int posix_memalign(void **piece, size_t alignment, size_t size)
{
  *piece = memalign(alignment, size);
  return *piece ? 0 : ENOMEM;
}
