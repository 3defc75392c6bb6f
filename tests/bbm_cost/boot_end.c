// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a boot, for rig/plugins/opcount.c: the hint that makes it write how
 * many instructions there were.
 */

int main(void)
{
	asm volatile("hint #0x71" : : : "memory");
	return 0;
}
