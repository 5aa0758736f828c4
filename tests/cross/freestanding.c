/* SPDX-License-Identifier: 0BSD OR MIT */
/* Tests one backend on a CPU without a C library here: BACKEND is its source file, COUNTER its
   object. Reads until the count has increased, prints the counts, and exits with 0; with 1 if
   the counter is stopped, decreases or does not open. System calls that a backend makes for
   its rate fail. */

#include "config.h"

#include "backends/backend.h"
#include "backends/perf/remedy.h"
#include "sys/kernel-file.h"

#include BACKEND

extern const struct cpuc_backend COUNTER;

/* Both CPUs have Linux's generic system call numbers. */
enum { CALL_WRITE = 64, CALL_EXIT = 93 };

#if defined(__riscv)
static long call(long number, long a, long b, long c)
{
  register long r0 __asm__("a0") = a;
  register long r1 __asm__("a1") = b;
  register long r2 __asm__("a2") = c;
  register long n __asm__("a7") = number;

  __asm__ volatile("ecall" : "+r"(r0) : "r"(r1), "r"(r2), "r"(n) : "memory");
  return r0;
}
#elif defined(__loongarch__)
static long call(long number, long a, long b, long c)
{
  register long r0 __asm__("$a0") = a;
  register long r1 __asm__("$a1") = b;
  register long r2 __asm__("$a2") = c;
  register long n __asm__("$a7") = number;

  __asm__ volatile("syscall 0"
    : "+r"(r0)
    : "r"(r1), "r"(r2), "r"(n)
    : "memory", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7", "$t8");
  return r0;
}
#endif

/* Functions that a backend may call: all fail. */

static int error_number;

int *__errno_location(void);
int *__errno_location(void)
{
  return &error_number;
}

int refuse(void);
int refuse(void)
{
  error_number = 38; /* ENOSYS */
  return -1;
}

long syscall(long, ...) __attribute__((alias("refuse")));

int cpuc_kernel_file_read_whole(const char *path, char *buffer, size_t size)
{
  (void)path, (void)buffer, (void)size;
  return -1;
}

void cpuc_remedy_for_rdcycle(struct cpuc_diagnosis *why)
{
  (void)why;
}

static void print(const char *text)
{
  long length = 0;

  while (text[length])
    length++;
  call(CALL_WRITE, 1, (long)text, length);
}

static void print_hex(const char *text, long long value)
{
  char digits[] = " 0x0000000000000000";
  int i;

  for (i = 0; i < 16; i++)
    digits[sizeof digits - 2 - i] = "0123456789abcdef"[(unsigned long long)value >> (4 * i) & 15];
  print(text);
  print(digits);
}

void _start(void);
void _start(void)
{
  struct cpuc_diagnosis why = { 0 };
  long long first, next = 0;
  int i, works = !COUNTER.open || COUNTER.open(NULL, &why) == 0;

  first = COUNTER.read();
  for (i = 0; i < 10000000 && works && next <= first; i++) {
    next = COUNTER.read();
    works = next >= first;
  }
  works = works && next > first && first > 0;
  print_hex("freestanding: read", first);
  print_hex(", then", next);
  print_hex(", reported rate", cpuc_reported_rate(&COUNTER).hz);
  print(works ? "\n" : ": WRONG\n");
  call(CALL_EXIT, !works, 0, 0);
}
