//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_CONVERSION_ATTENTIONFORMS_H
#define POL_CONVERSION_ATTENTIONFORMS_H

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::pol {

/// Turns the short forms of attention ops on memrefs into regions: what expands
/// attention begins with this, and knows regions alone. `input_pos` is taken to
/// at most 2^60 from 0, so that what is added to it does not overflow.
void expandAttentionForms(Operation *root);

} // namespace mlir::pol

#endif // POL_CONVERSION_ATTENTIONFORMS_H
