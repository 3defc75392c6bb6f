// SPDX-License-Identifier: GPL-2.0-only
/*
 * Take this program's memory away from the guest: the start of the first memory
 * node is moved in place, which needs no room in the devicetree.
 */
#include "el2.h"

#define FDT_MAGIC	0xd00dfeed
#define FDT_BEGIN_NODE	1
#define FDT_END_NODE	2
#define FDT_PROP	3
#define FDT_NOP		4
#define FDT_END		9

/* Bytes, since the devicetree is big endian and the MMU is off. */
static u32 get_be32(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

static u64 get_be64(const u8 *p)
{
	return (u64)get_be32(p) << 32 | get_be32(p + 4);
}

static void put_be64(u8 *p, u64 value)
{
	int i;

	for (i = 7; i >= 0; i--, value >>= 8)
		p[i] = value;
}

static int starts_with(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return 0;
	return 1;
}

static int is_equal(const char *a, const char *b)
{
	return starts_with(a, b) && starts_with(b, a);
}

static u8 *align4(u8 *p)
{
	return (u8 *)(((u64)p + 3) & ~3UL);
}

/*
 * Make @start the first byte of guest memory. Returns NULL, or what is wrong.
 * QEMU uses two cells each for address and size.
 */
const char *take_guest_memory(u8 *dtb, u64 start)
{
	u8 *p = dtb + get_be32(dtb + 8);
	char *strings = (char *)dtb + get_be32(dtb + 12);
	int depth = 0, in_memory = 0;

	if (get_be32(dtb) != FDT_MAGIC)
		return "no devicetree";

	for (;;) {
		u32 token = get_be32(p);

		p += 4;
		switch (token) {
		case FDT_BEGIN_NODE:
			depth++;
			in_memory = depth == 2 &&
				    starts_with((char *)p, "memory");
			while (*p)
				p++;
			p = align4(p + 1);
			break;
		case FDT_END_NODE:
			depth--;
			in_memory = 0;
			break;
		case FDT_PROP: {
			u32 size = get_be32(p);
			char *name = strings + get_be32(p + 4);
			u8 *value = p + 8;

			p = align4(value + size);
			if (!in_memory || !is_equal(name, "reg") || size < 16 ||
			    get_be64(value) != RAM_BASE)
				break;
			if (get_be64(value + 8) <= start - RAM_BASE)
				return "first memory node is too small";

			put_be64(value + 8,
				 get_be64(value + 8) - (start - RAM_BASE));
			put_be64(value, start);
			return 0;
		}
		case FDT_NOP:
			break;
		default:
			return "no memory at the start of RAM in the devicetree";
		}
	}
}
