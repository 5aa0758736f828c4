/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links on every target. */

int main(void)
{
  return 0;
}
