//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Instances of a known kind, the same on every machine.

#ifndef POL_TOOLS_POL_PLAN_GENERATE_H
#define POL_TOOLS_POL_PLAN_GENERATE_H

#include "Table.h"
#include "llvm/Support/Error.h"

namespace pol_plan {

/// A table by a specification, KIND:COUNT[:SEED].
///
/// frames: the buffers of a program of nested frames, as calls are nested. A
/// frame of more than 8 buffers has a tenth of them itself, and divides the
/// rest at random among 2 to 5 frames inside, which are opened one after the
/// other at random times between its own. Of a frame's own buffers, half live
/// to the end of the frame, and half to a time that is uniform between their
/// begin and that end. Sizes are log-normal: 4096 times e to a normal number
/// with a standard deviation of 1.5, rounded up to a multiple of 64.
///
/// cuts: a rectangle of 1 048 576 times and as many bytes, cut COUNT - 1 times
/// straight through one of the rectangles it has become, the largest. The cut
/// divides the longer side, between a fourth and three fourths; sides are in
/// units of 1024. The buffers are the rectangles in a random order: they can be
/// placed in 1 048 576 bytes, which are in use at all times.
llvm::Expected<Table> generate(llvm::StringRef spec);

} // namespace pol_plan

#endif // POL_TOOLS_POL_PLAN_GENERATE_H
