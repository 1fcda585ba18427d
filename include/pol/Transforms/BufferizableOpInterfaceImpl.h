//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define POL_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::pol {

/// How pol's ops bufferize: an alloc is an allocation of its space, a frame is
/// transparent, a kernel writes its destinations in place.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::pol

#endif // POL_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
