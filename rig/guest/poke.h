/* SPDX-License-Identifier: GPL-2.0-only */
/* The user's side of tests/leaf_split/leaf_poke.c, which lists the verbs. */
#ifndef WL_GUEST_POKE_H
#define WL_GUEST_POKE_H

#include <stdbool.h>
#include <stdint.h>

#define POKE_DIR	"/sys/kernel/debug/leaf_poke/"

/**
 * poke() - change one page, or the block that begins with it
 * @verb: what to do
 * @addr: linear address of the page
 * Return: 0, or -errno.
 */
int poke(const char *verb, uint64_t addr);

/**
 * poke_contents_ok() - do all pages of the module that can be read hold their
 * pattern?
 * @want_skipped: how many pages are invalid
 * Return: true if so; else what is wrong is on stdout.
 */
bool poke_contents_ok(unsigned long want_skipped);

#endif /* WL_GUEST_POKE_H */
