/* SPDX-License-Identifier: 0BSD OR MIT */
/* Calls libperfex before main() and after it, in C from a constructor and a destructor, and in C++
   from those of a global object. perfex.sh links it with the static libraries, whose own
   constructors must run first, and whose destructors last. */

#include <cpucycles.h>
#include <perfex.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_wrong;

static void expect(int holds, const char *what)
{
  if (holds)
    return;
  fprintf(stderr, "early: %s: %s\n", what, perfex_why());
  is_wrong = 1;
}

static int last_sentence_contains(const char *part)
{
  return strstr(perfex_why(), part) != NULL;
}

static void fail(const char *name)
{
  expect(perfex_open(name, 0) == NULL && last_sentence_contains(name), "no sentence");
}

/* In the child, the group is that of the parent. */
static void read_in_child(struct perfex_group *group)
{
  long long count;
  int status = 0;
  pid_t child = fork();

  if (child == 0)
    _exit(perfex_read(group, &count) != -1 || errno != EPERM || !last_sentence_contains("parent"));
  expect(waitpid(child, &status, 0) == child && status == 0, "a child reads its parent's group");
}

/* Not where a tool replaces malloc(), which would end for want of memory of its own. */
static void fail_without_memory(void)
{
#ifndef OTHER_MALLOC
  struct rlimit usual, none;
  void **blocks = NULL, **block;
  size_t size;

  if (getrlimit(RLIMIT_AS, &usual) != 0)
    return;
  none = usual;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_AS, &none);
  for (size = 65536; size >= sizeof block; size /= 2)
    while ((block = (void **)malloc(size)) != NULL) {
      *block = blocks;
      blocks = block;
    }
  expect(perfex_open("nonesuch", 0) == NULL && last_sentence_contains("no memory"), "memory");
  setrlimit(RLIMIT_AS, &usual);
  while ((block = blocks) != NULL) {
    blocks = (void **)*block;
    free(block);
  }
#endif
}

static void count_early(void)
{
  struct perfex_group *group;
  long long count;

  fail_without_memory();
  fail("early-name");
  group = perfex_open("page-faults", 0);
  if (!group) {
    printf("early: skipped: %s\n", perfex_why());
    return;
  }
  expect(perfex_read(group, &count) == 0, "no count");
  read_in_child(group);
  perfex_close(group);
}

static void ask_late(void)
{
  expect(last_sentence_contains("last-name"), "the sentence is lost");
  fail("late-name");
  if (is_wrong)
    _exit(1);
}

#ifdef __cplusplus
static struct object {
  object() { count_early(); }
  ~object() { ask_late(); }
} object_of_program;
#else
__attribute__((constructor)) static void begin(void)
{
  count_early();
}

__attribute__((destructor)) static void end(void)
{
  ask_late();
}
#endif

int main(void)
{
  expect(cpucycles() >= 0 && load_costs((char *)"/nonexistent/costs") == -1, "a call in main()");
  (void)start_counters(0, 15); /* which fails where there is no PMU */
  fail("last-name");
  return 0;
}
