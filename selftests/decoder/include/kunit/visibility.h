/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_KUNIT_VISIBILITY_H
#define SHIM_KUNIT_VISIBILITY_H

#define EXPORT_SYMBOL_IF_KUNIT(symbol)	extern typeof(symbol) symbol

#endif
