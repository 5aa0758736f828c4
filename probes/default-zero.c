/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links everywhere. */

int main(void)
{
  return 0;
}
