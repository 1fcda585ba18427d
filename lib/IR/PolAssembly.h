//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The custom directives that the ops' assembly formats share.

#ifndef POL_LIB_IR_POLASSEMBLY_H
#define POL_LIB_IR_POLASSEMBLY_H

#include "pol/IR/PolOps.h"

namespace mlir::pol {
using UnresolvedOperands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;
using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;
using Types = SmallVectorImpl<Type>;

/// `{name = %value : type, ...}`
ParseResult parseNamedOperands(OpAsmParser &parser, UnresolvedOperands &values,
                               Types &types, ArrayAttr &names);
void printNamedOperands(OpAsmPrinter &printer, Operation *op,
                        OperandRange values, TypeRange types, ArrayAttr names);

/// `outputs {name(argument) = %value : type, ...} checkpoints ...`
ParseResult parseDescribedBuffers(OpAsmParser &parser,
                                  UnresolvedOperands &buffers, Types &types,
                                  ArrayAttr &names, ArrayAttr &roles,
                                  DenseI64ArrayAttr &arguments);
void printDescribedBuffers(OpAsmPrinter &printer, Operation *op,
                           OperandRange buffers, TypeRange types,
                           ArrayAttr names, ArrayAttr roles,
                           DenseI64ArrayAttr arguments);

/// `@function(%a, none, %b) {options} regions({...}, {...})`, or the same for
/// `"dialect.op"`, whose dialect is loaded.
ParseResult
parseKernelInvocation(OpAsmParser &parser, Attribute &name,
                      UnresolvedOperands &inputs, DenseBoolArrayAttr &present,
                      DictionaryAttr &options,
                      SmallVectorImpl<std::unique_ptr<Region>> &regions);
void printKernelInvocation(OpAsmPrinter &printer, Operation *op, Attribute name,
                           OperandRange inputs, DenseBoolArrayAttr present,
                           DictionaryAttr options,
                           MutableArrayRef<Region> regions);

/// `eq`
ParseResult parseCheckPredicate(OpAsmParser &parser,
                                CheckPredicateAttr &predicate);
void printCheckPredicate(OpAsmPrinter &printer, Operation *op,
                         CheckPredicateAttr predicate);

/// `type(like) -> type(result)`, the latter left out where it follows.
ParseResult parseUndefTypes(OpAsmParser &parser, OptionalOperand like,
                            Type &likeType, Type &result);
void printUndefTypes(OpAsmPrinter &printer, Operation *op, Value like,
                     Type likeType, Type result);

/// `type(primal), type(shadow)`, or `type(primal) -> type(result)`, the latter
/// left out where the shadow is described like the primal.
ParseResult parseDuplicatedTypes(OpAsmParser &parser, Type &primalType,
                                 OptionalOperand shadow, Type &shadowType,
                                 Type &result);
void printDuplicatedTypes(OpAsmPrinter &printer, Operation *op, Type primalType,
                          Value shadow, Type shadowType, Type result);

/// `(inputs), space -> result`
ParseResult parseDescribingTypes(OpAsmParser &parser, Types &inputs,
                                 OptionalOperand space, Type &spaceType,
                                 Type &result);
void printDescribingTypes(OpAsmPrinter &printer, Operation *op,
                          TypeRange inputs, Value space, Type spaceType,
                          Type result);

/// `(inputs), outputs, checkpoints, scratch -> results`
ParseResult parseCallTypes(OpAsmParser &parser, Types &inputs,
                           OptionalOperand outputs, OptionalOperand checkpoints,
                           OptionalOperand scratch, Type &outputsType,
                           Type &checkpointsType, Type &scratchType,
                           Types &results);
void printCallTypes(OpAsmPrinter &printer, Operation *op, TypeRange inputs,
                    Value outputs, Value checkpoints, Value scratch,
                    Type outputsType, Type checkpointsType, Type scratchType,
                    TypeRange results);

/// `(inputs), space -> results`
ParseResult parseApplyTypes(OpAsmParser &parser, Types &inputs, Type &space,
                            Types &results);
void printApplyTypes(OpAsmPrinter &printer, Operation *op, TypeRange inputs,
                     Type space, TypeRange results);
} // namespace mlir::pol

#endif // POL_LIB_IR_POLASSEMBLY_H
