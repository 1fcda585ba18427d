//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What the kernels of this dialect have in common, as data: the operands of
// each and how their shapes and element types relate. Assembly, verification,
// descriptions, effects and building follow from it.

#ifndef POL_IR_KERNELSIGNATURE_H
#define POL_IR_KERNELSIGNATURE_H

#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/IR/PolInterfaces.h"

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::pol {

/// Where an operand is written in the assembly, and with that what happens to
/// it: `Ins`, `Saved` and `Captures` are read (`Saved` are the forward pass's
/// checkpoints, in a backward op; `Captures` are what regions read), `Outs`,
/// `CaptureGradients` and `Checkpoints` are overwritten, `Scratch` is both.
/// Captures and their gradients are any number of values.
enum class KernelClause {
  Ins,
  Saved,
  Captures,
  Outs,
  CaptureGradients,
  Checkpoints,
  Scratch
};

/// What an operand's elements are.
enum class KernelElement {
  Float,        ///< a float no wider than what is accumulated in
  Accumulation, ///< what is accumulated in
  Length,       ///< i32 or i64: lengths, or entries of a table
  Index,        ///< no array, but a single `index`
  Tile          ///< i32: how many tiles follow, and each one's number
};

/// One operand of a kernel. Unless said otherwise it is required.
struct KernelOperand {
  StringRef name;
  KernelClause clause;
  /// A letter for each dimension: equal letters are equal extents. `*` stands
  /// for all leading dimensions; a lower case letter for 1 or the extent of its
  /// upper case; a letter of the signature's `derived` for what is computed.
  StringRef shape;
  KernelElement element = KernelElement::Float;
  bool isOptional = false;
  /// Lengths: the letter of the extent that they are within.
  char bound = 0;
  /// Inputs: stands for the shadow where it is duplicated.
  bool isCotangent = false;
  /// Inputs: given for its type alone.
  bool isUnread = false;
  /// Inputs: the destination that may be the same buffer.
  StringRef inPlace;
  /// Outputs: the input whose element type a description has.
  StringRef like;
  /// Outputs: the input that this is the gradient of.
  StringRef gradientOf;
  /// Scratch: the gradients that need it, separated by spaces.
  StringRef usedFor;
  /// Scratch: sums for the gradients of captures, as many as follow from these,
  /// described where there are any that are scattered (`isScattered`), and
  /// optional.
  bool isOfSums = false;
  /// Scratch: described where the mask keeps no interval of keys only, and
  /// always optional.
  bool isOfMask = false;
  /// Scratch: what the target's expansion works in, always optional. How much
  /// that is no type says.
  bool isOfTarget = false;

  constexpr KernelOperand(StringRef name, KernelClause clause, StringRef shape)
      : name(name), clause(clause), shape(shape) {}
  /// Whether it is overwritten, and gives a result on tensors.
  constexpr bool isDestination() const {
    return clause == KernelClause::Outs ||
           clause == KernelClause::CaptureGradients ||
           clause == KernelClause::Checkpoints;
  }
  /// Whether it is read, and nothing else.
  constexpr bool isInput() const {
    return clause == KernelClause::Ins || clause == KernelClause::Saved ||
           clause == KernelClause::Captures;
  }
  /// Whether it is any number of values, of any shapes.
  constexpr bool isVariadic() const {
    return clause == KernelClause::Captures ||
           clause == KernelClause::CaptureGradients;
  }
  constexpr KernelOperand of(KernelElement value) const {
    KernelOperand copy = *this;
    copy.element = value;
    return copy;
  }
  constexpr KernelOperand optional() const {
    KernelOperand copy = *this;
    copy.isOptional = true;
    return copy;
  }
  constexpr KernelOperand required() const {
    KernelOperand copy = *this;
    copy.isOptional = false;
    return copy;
  }
  constexpr KernelOperand cotangent() const {
    KernelOperand copy = *this;
    copy.isCotangent = true;
    return copy;
  }
  constexpr KernelOperand unread() const {
    KernelOperand copy = *this;
    copy.isUnread = true;
    copy.isOptional = true;
    return copy;
  }
  constexpr KernelOperand sharedWith(StringRef destination) const {
    KernelOperand copy = *this;
    copy.inPlace = destination;
    return copy;
  }
};

/// The makers that signatures are written with.
namespace kernel {
constexpr KernelOperand in(StringRef name, StringRef shape) {
  return KernelOperand(name, KernelClause::Ins, shape);
}
constexpr KernelOperand lengths(StringRef name, char bound) {
  KernelOperand operand = in(name, "B").of(KernelElement::Length).optional();
  operand.bound = bound;
  return operand;
}
constexpr KernelOperand saved(StringRef name, StringRef shape) {
  return KernelOperand(name, KernelClause::Saved, shape)
      .of(KernelElement::Accumulation);
}
constexpr KernelOperand out(StringRef name, StringRef shape, StringRef like) {
  KernelOperand operand(name, KernelClause::Outs, shape);
  operand.like = like;
  return operand;
}
constexpr KernelOperand gradient(StringRef name, StringRef shape,
                                 StringRef input, StringRef like) {
  KernelOperand operand = out(name, shape, like).optional();
  operand.gradientOf = input;
  return operand;
}
constexpr KernelOperand checkpoint(StringRef name, StringRef shape) {
  return KernelOperand(name, KernelClause::Checkpoints, shape)
      .of(KernelElement::Accumulation)
      .optional();
}
constexpr KernelOperand captures() {
  return KernelOperand("captures", KernelClause::Captures, "").optional();
}
constexpr KernelOperand captureGradients() {
  return KernelOperand("dcaptures", KernelClause::CaptureGradients, "")
      .optional();
}
constexpr KernelOperand scratch(StringRef name, StringRef shape,
                                StringRef usedFor) {
  KernelOperand operand = KernelOperand(name, KernelClause::Scratch, shape)
                              .of(KernelElement::Accumulation)
                              .optional();
  operand.usedFor = usedFor;
  return operand;
}
constexpr KernelOperand captureSums() {
  KernelOperand operand = scratch("capture_sums", "N", "dcaptures");
  operand.isOfSums = true;
  return operand;
}
/// Lists of tiles: see `kMaskTile`.
constexpr KernelOperand tileList(StringRef name, StringRef shape,
                                 StringRef usedFor) {
  KernelOperand operand = scratch(name, shape, usedFor).of(KernelElement::Tile);
  operand.isOfMask = true;
  return operand;
}
/// What the workers of a target's expansion work in: see `kWorkspace`.
constexpr KernelOperand workspace(StringRef usedFor) {
  KernelOperand operand = scratch("workspace", "WX", usedFor);
  operand.isOfTarget = true;
  return operand;
}
} // namespace kernel

/// Queries, or keys, that a list of tiles takes together. A list is that of one
/// tile of queries, or of keys: the number of tiles of the others that keep
/// anything with it, and for each its number times 2, plus 1 where it keeps
/// everything.
inline constexpr int64_t kMaskTile = 64;

/// A region of a kernel, which may be empty. It is one block, whose arguments
/// are a score, where it takes one, four positions (batch, head, query, key)
/// and the kernel's captures. It yields a score or an i1.
struct KernelRegion {
  StringRef name;
  bool isOfScores;
};

/// A letter whose extent is computed from those of others, and from attributes:
/// the number of blocks of something, say. Descriptions, the verifier and the
/// checks at run time all ask here, so that they agree.
struct DerivedExtent {
  char letter;
  /// The letters it is computed from, derived ones among them: each that of a
  /// required operand before the first that has `letter`. `*` stands for all
  /// leading extents, however many.
  StringRef from;
  /// The extent, of extents in the order of `from` that may be
  /// `ShapedType::kDynamic`; that itself where they do not say. Attributes,
  /// null if there are none, are not verified yet.
  int64_t (*infer)(ArrayRef<int64_t> extents, DictionaryAttr attributes);
  /// The same at run time. It agrees with `infer` wherever that gives a number.
  OpFoldResult (*build)(OpBuilder &builder, Location loc,
                        ArrayRef<OpFoldResult> extents,
                        DictionaryAttr attributes);
};

/// `P`, the number of blocks that rows are summed in, from the leading extents.
extern const DerivedExtent kRowBlocks;

/// `Q` and `R`: how many lists of tiles there are for S queries, and how long
/// those are for T keys; `U` and `V` the other way round.
extern const DerivedExtent kTileLists[4];

/// A kernel's operands, in the order of the op's operand groups, of which each
/// but captures and their gradients holds at most one value. The first one
/// decides what is accumulated in.
struct KernelSignature {
  StringRef name;
  /// The kernel whose checkpoints these are: its own, if it is a forward one.
  StringRef forward;
  ArrayRef<KernelOperand> operands;
  /// Attributes of type f64 that are not printed where they have this value.
  ArrayRef<std::pair<StringRef, double>> defaults;
  /// An extent that must be a multiple of another; 0 if there is none.
  char dividend = 0;
  char divisor = 0;
  /// Letters that are no operand's own.
  ArrayRef<DerivedExtent> derived = {};
  ArrayRef<KernelRegion> regions = {};
  /// Builds checks of an op beyond those of shapes and lengths, if not null.
  void (*buildMoreChecks)(OpBuilder &builder, Operation *op) = nullptr;
  /// The signature that counts, other than for names and clauses, where there
  /// is an operand or an attribute of that name: shapes may be others, and
  /// optional operands required.
  StringRef variantWith = {};
  const KernelSignature *variant = nullptr;

  /// Operands that a verb gives by position: the leading ones, which are read.
  /// Captures follow them.
  ArrayRef<KernelOperand> getInputs() const;
  bool hasOptionalOperands() const;
  /// Whether any of the gradients that need some scratch satisfies a predicate.
  bool anyUser(const KernelOperand &scratch,
               function_ref<bool(const KernelOperand &)> predicate) const;
  /// The position of the operand of that name.
  unsigned getIndex(StringRef operand) const;
  /// How a letter is computed, null for those of operands.
  const DerivedExtent *getDerived(char letter) const;
  /// The variant that counts for what is there: an operand at a position, or
  /// an attribute.
  const KernelSignature &
  getVariant(function_ref<bool(unsigned index)> hasOperand,
             DictionaryAttr attributes) const;
};

/// Rows are summed in at most this many blocks, of a multiple of
/// `kRowBlockMultiple` rows each. The split depends on the number of rows
/// alone.
inline constexpr int64_t kMaxRowBlocks = 64;
inline constexpr int64_t kRowBlockMultiple = 64;

/// How many rows each block has, for rows in leading dimensions of these
/// extents.
Value buildRowsPerBlock(OpBuilder &builder, Location loc,
                        ArrayRef<OpFoldResult> leading);

/// The number of keys that a sequence has room for in so many pages. Where it
/// would overflow, as it may where pages are empty, it is almost 2^63.
Value buildPagedCapacity(OpBuilder &builder, Location loc, OpFoldResult pages,
                         OpFoldResult pageSize);

/// The variant of a signature that counts for an op.
const KernelSignature &getKernelVariant(Operation *op,
                                        const KernelSignature &signature);

/// Whether there is a result for an operand: a destination that is a tensor.
bool givesResult(const KernelOperand &operand, Value value);

/// The operand at a position of the signature, null if absent, or if there may
/// be any number.
Value getKernelOperand(Operation *op, const KernelSignature &signature,
                       unsigned index);
/// All operands at a position of the signature.
OperandRange getKernelOperands(Operation *op, const KernelSignature &signature,
                               unsigned index);
/// All operands of a clause that is one group, as captures are; none if the
/// signature has no such clause.
OperandRange getKernelOperands(Operation *op, const KernelSignature &signature,
                               KernelClause clause);

/// The name of the attribute that numbers the captures whose gradients an op
/// computes.
inline constexpr StringLiteral kCaptureGradients = "capture_gradients";

/// The types of a region's arguments. `captures` are as the region sees them:
/// of a duplicated one the primal.
SmallVector<Type> getRegionArgumentTypes(const KernelRegion &region,
                                         FloatType accumulation,
                                         TypeRange captures);
using EmitErrorFn = function_ref<InFlightDiagnostic()>;
/// Whether a kernel has a mask that keeps no interval of keys for each query.
bool needsTileLists(const KernelSignature &signature, RegionRange regions);
/// How many numbers the sums for a capture's gradient are: for each of its
/// elements a sum, and what that has lost.
Value buildNumSums(OpBuilder &builder, Location loc, Value capture);
/// Checks regions and what they capture.
LogicalResult verifyKernelRegions(const KernelSignature &signature,
                                  FloatType accumulation, TypeRange captures,
                                  RegionRange regions, EmitErrorFn emitError);

/// The types of array an operand can be: as it is, or as the primal or shadow
/// of a duplicated one. Null if it is no array.
ShapedType getOperandArray(Type type, const KernelOperand &operand);

ParseResult parseKernel(OpAsmParser &parser, OperationState &result,
                        const KernelSignature &signature);
void printKernel(OpAsmPrinter &printer, Operation *op,
                 const KernelSignature &signature);
LogicalResult verifyKernel(Operation *op, const KernelSignature &signature);

/// The destinations, which are adjacent.
MutableOperandRange getKernelInits(Operation *op,
                                   const KernelSignature &signature);
void getKernelEffects(Operation *op, const KernelSignature &signature,
                      SmallVectorImpl<MemoryEffects::EffectInstance> &effects);
bool mayKernelWorkInPlace(const KernelSignature &signature, OpOperand &input,
                          OpOperand &destination);
bool isKernelScratch(const KernelSignature &signature, OpOperand &operand);
bool isKernelUnread(const KernelSignature &signature, OpOperand &operand);
bool takesKernelShadow(const KernelSignature &signature, OpOperand &operand);

CheckpointName getKernelCheckpoint(const KernelSignature &signature,
                                   OpOperand &operand);

/// Drops what a kernel on tensors computes for nobody, and operands that it
/// does not read.
void populateKernelCanonicalizationPatterns(RewritePatternSet &patterns,
                                            StringRef name,
                                            const KernelSignature &signature);

/// Builds checks of what `verifyKernel` cannot see.
void buildKernelChecks(OpBuilder &builder, Operation *op,
                       const KernelSignature &signature);

LogicalResult inferKernelBuffers(const KernelSignature &signature,
                                 KernelInvocation invocation,
                                 SmallVectorImpl<BufferDescription> &buffers);
LogicalResult
reifyKernelBuffers(const KernelSignature &signature, OpBuilder &builder,
                   KernelInvocation invocation,
                   SmallVectorImpl<SmallVector<OpFoldResult>> &shapes);
FailureOr<Operation *> buildKernelOp(const KernelSignature &signature,
                                     OpBuilder &builder,
                                     KernelInvocation invocation,
                                     ValueRange buffers);

} // namespace mlir::pol

#endif // POL_IR_KERNELSIGNATURE_H
