/* SPDX-License-Identifier: 0BSD OR MIT */
/* Links wherever C does. */

int main(void)
{
  return 0;
}
