//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_POLTYPES_H
#define POL_IR_POLTYPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "pol/IR/PolDialect.h"
#include "pol/IR/PolInterfaces.h"

#define GET_ATTRDEF_CLASSES
#include "pol/IR/PolAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "pol/IR/PolTypes.h.inc"

namespace mlir::pol {

/// Whether `type` is a tensor or memref, or a bundle or duplicated value of
/// only these.
bool isBufferType(Type type);
/// Whether `type` is a description, or a bundle or duplicated value of only
/// these.
bool isDescriptionType(Type type);

/// What a value stands for that may be duplicated: the type of its primal.
Type getPrimalType(Type type);

/// What a description becomes in a space: tensors with the memory space as
/// encoding, or memrefs in it. Buffers stay, bundles keep their names, and the
/// shadow of a buffer is of the buffer's kind.
Type getMaterializedType(Type description, SpaceTypeInterface space,
                         bool asMemRefs = false);

/// What describes a buffer: the inverse, as far as types go.
Type getDescribedType(Type buffer);

/// Whether `buffer` (a tensor, a memref, or a bundle or duplicated value of
/// them) can be what `description` describes: same names and element types,
/// compatible shapes.
bool describes(Type description, Type buffer);

/// Whether two descriptions differ at most in what is known of their shapes.
bool areCompatibleDescriptions(Type a, Type b);

/// The bytes of an array, or nothing if the size is dynamic. Fails when it does
/// not fit 63 bits.
FailureOr<std::optional<int64_t>> getStaticBytes(ShapedType type);
/// The bytes of one element in memory.
int64_t getElementBytes(Type elementType);

} // namespace mlir::pol

#endif // POL_IR_POLTYPES_H
