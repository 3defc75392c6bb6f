# SPDX-License-Identifier: GPL-2.0-only
# The pinned base: what is fetched, and what the patches are made for.

# Upstream version the patches and the overlay are written against.
KVER := 6.12.117
# Debian package that carries its source; any Debian revision of it will do.
KPACKAGE := linux-source-6.12
# Public tag with the same upstream version, named in mailed series.
KTAG := v6.12.117
