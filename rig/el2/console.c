// SPDX-License-Identifier: GPL-2.0-only
/* Output on the PL011 that the guest's console uses too, and the way out. */
#include "el2.h"

#define PSCI_SYSTEM_OFF	0x84000008

static void put_char(char c)
{
	store32(UART_BASE, c);
}

void put_str(const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			put_char('\r');
		put_char(*s);
	}
}

void put_hex(u64 value)
{
	int shift = 60;

	while (shift && !(value >> shift))
		shift -= 4;
	put_str("0x");
	for (; shift >= 0; shift -= 4)
		put_char("0123456789abcdef"[value >> shift & 0xf]);
}

void put_dec(u64 value)
{
	if (value >= 10)
		put_dec(value / 10);
	put_char('0' + value % 10);
}

/* Ends QEMU, so that whoever waits for the boot does not wait for nothing. */
void power_off(void)
{
	u64 x[4] = { PSCI_SYSTEM_OFF };

	smc(x);
	for (;;)
		asm volatile("wfi");
}
