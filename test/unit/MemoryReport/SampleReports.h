//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Reports of any size, like those of real programs.

#ifndef POL_TEST_UNIT_MEMORYREPORT_SAMPLEREPORTS_H
#define POL_TEST_UNIT_MEMORYREPORT_SAMPLEREPORTS_H

#include "pol/Analysis/MemoryReport.h"

/// A planned space with that many buffers: checkpoints that live from a forward
/// to a backward step, outputs, and short scratch. Sizes differ by a factor of
/// up to a million. Nothing overlaps.
mlir::pol::MemoryReport makeSampleReport(unsigned buffers);

/// Names of all that XML and terminals mind, buffers of no bytes and of 2^62,
/// lives of no length, and numbers that fit together badly.
mlir::pol::MemoryReport makeHostileReport();

#endif // POL_TEST_UNIT_MEMORYREPORT_SAMPLEREPORTS_H
