/* SPDX-License-Identifier: 0BSD OR MIT */
/* An allocator to preload. It hands out a static arena and reuses nothing; on request it refuses
   allocations, or calls a function in each, as an allocator that measures itself would. */

#include "tests/programs/malloc-module.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { ARENA_SIZE = 1 << 24, UNIT = 64 };

/* The size of each block stands before it. */
static _Alignas(UNIT) unsigned char arena[ARENA_SIZE];
static size_t used;

EXPORTED struct malloc_settings malloc_settings;

EXPORTED void *malloc(size_t size);
EXPORTED void *calloc(size_t count, size_t size);
EXPORTED void *realloc(void *old, size_t size);
EXPORTED void free(void *block);
EXPORTED void *aligned_alloc(size_t alignment, size_t size);
EXPORTED void *memalign(size_t alignment, size_t size);
EXPORTED int posix_memalign(void **block, size_t alignment, size_t size);

static int is_refused(void)
{
  long number;

  if (!__atomic_load_n(&malloc_settings.active, __ATOMIC_ACQUIRE))
    return 0;
  number = __atomic_add_fetch(&malloc_settings.allocations, 1, __ATOMIC_RELAXED);
  if (malloc_settings.call)
    (void)malloc_settings.call();
  return number >= malloc_settings.first && number <= malloc_settings.last;
}

static void *allocate(size_t alignment, size_t size)
{
  size_t total, at;

  if (size > ARENA_SIZE || alignment > ARENA_SIZE / 4)
    return NULL;
  if (alignment < UNIT)
    alignment = UNIT;
  total = UNIT + alignment + (size + UNIT - 1) / UNIT * UNIT;
  at = __atomic_fetch_add(&used, total, __ATOMIC_RELAXED);
  if (at > ARENA_SIZE - total)
    return NULL;
  at += UNIT + (alignment - (at + UNIT) % alignment) % alignment;
  memcpy(arena + at - sizeof size, &size, sizeof size);
  return arena + at;
}

void *memalign(size_t alignment, size_t size)
{
  void *block = is_refused() ? NULL : allocate(alignment, size);

  if (!block)
    errno = ENOMEM;
  return block;
}

void *malloc(size_t size)
{
  return memalign(UNIT, size);
}

/* The arena is zero, and no part of it is handed out twice. */
void *calloc(size_t count, size_t size)
{
  if (size > 0 && count > ARENA_SIZE / size) {
    errno = ENOMEM;
    return NULL;
  }
  return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
  size_t before = 0;
  void *block = malloc(size);

  if (old)
    memcpy(&before, (unsigned char *)old - sizeof before, sizeof before);
  if (block && old)
    memcpy(block, old, before < size ? before : size);
  return block;
}

void free(void *block)
{
  (void)block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
  return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
  *block = memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}
