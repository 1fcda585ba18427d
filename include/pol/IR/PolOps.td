//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Everything of the dialect, for documentation and for dialects that extend it.

#ifndef POL_IR_POLOPS_TD
#define POL_IR_POLOPS_TD

include "pol/IR/CheckOps.td"
include "pol/IR/DescriptionOps.td"
include "pol/IR/DifferentiationOps.td"
include "pol/IR/KernelOps.td"
include "pol/IR/MemoryOps.td"

#endif // POL_IR_POLOPS_TD
