//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The passes of the tests.

#ifndef POL_TEST_LIB_TESTPASSES_H
#define POL_TEST_LIB_TESTPASSES_H

namespace mlir::pol::test {

void registerTestAttentionVariants();
void registerTestRegionGradient();

} // namespace mlir::pol::test

#endif // POL_TEST_LIB_TESTPASSES_H
