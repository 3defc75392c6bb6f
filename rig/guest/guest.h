/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small things that the guest programs share.
 */
#ifndef WL_GUEST_GUEST_H
#define WL_GUEST_GUEST_H

#include <stddef.h>

/**
 * guest_load() - load a module
 * @path: the .ko
 * @params: parameters; "lookup=" for tests/lib/ksym.h is put in front, with
 *	the address of kallsyms_lookup_name() if this kernel has it
 * Return: 0, or -errno.
 */
int guest_load(const char *path, const char *params);

/**
 * guest_load_plain() - load a module with exactly these parameters
 * Return: 0, or -errno.
 */
int guest_load_plain(const char *path, const char *params);

/**
 * guest_unload() - unload a module
 * Return: 0, or -errno.
 */
int guest_unload(const char *name);

/**
 * guest_read() - the first bytes of a file as a string
 * Return: 0, or -errno.
 */
int guest_read(const char *path, char *text, size_t size);

/**
 * guest_write() - one write() of a string
 * Return: 0, or -errno.
 */
int guest_write(const char *path, const char *text);

/**
 * guest_field() - the number after "NAME=" in a line of such fields
 * @text: the line
 * @name: with the equals sign
 * @value: filled in
 * Return: 0, or -1 if there is no such field.
 */
int guest_field(const char *text, const char *name, unsigned long *value);

/**
 * guest_load_bpf() - load a BPF program of the type that needs nothing else
 * @nr_insns: instructions, 2 to 4096; all but the first and last add a number
 * @first: what the second one adds; each further one adds one more
 *
 * Not for several threads at a time.
 *
 * Return: a file descriptor, or -errno.
 */
int guest_load_bpf(int nr_insns, int first);

/**
 * guest_compare_copies() - compare all copies of kernel text with the original
 *
 * Prints where they differ.
 *
 * Return: the number of copies, or -errno: -EIO if any differs, -ENOENT if this
 *	kernel made none.
 */
int guest_compare_copies(void);

#endif /* WL_GUEST_GUEST_H */
