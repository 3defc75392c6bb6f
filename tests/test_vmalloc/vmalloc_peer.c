// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own test of vmalloc, built with the suite: lib/test_vmalloc.c. */
#include <../lib/test_vmalloc.c>
