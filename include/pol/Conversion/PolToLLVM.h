//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_CONVERSION_POLTOLLVM_H
#define POL_CONVERSION_POLTOLLVM_H

namespace mlir {
class DialectRegistry;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace mlir::pol {

/// Spaces become pointers to `pol_space`, marks a pair of integers.
void populatePolToLLVMTypeConversions(LLVMTypeConverter &converter);

/// The ops of the memory family become calls of pol's runtime.
void populatePolToLLVMPatterns(LLVMTypeConverter &converter,
                               RewritePatternSet &patterns);

/// Makes `--convert-to-llvm` convert pol.
void registerConvertPolToLLVMInterface(DialectRegistry &registry);

} // namespace mlir::pol

#endif // POL_CONVERSION_POLTOLLVM_H
