//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Finding the kernel that a verb names, and what it describes.

#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

Value KernelInvocation::getOperand(unsigned position) const {
  if (present.empty())
    return position < operands.size() ? operands[position] : Value();
  if (position >= present.size() || !present[position])
    return Value();
  size_t index = llvm::count(present.take_front(position), true);
  return index < operands.size() ? operands[index] : Value();
}

std::string mlir::pol::getKernelName(Attribute name) {
  std::string text;
  if (auto op = dyn_cast<KernelOpNameAttr>(name))
    name = op.getName();
  llvm::raw_string_ostream(text) << name;
  return text;
}

StringAttr mlir::pol::getBareKernelName(Attribute name) {
  if (auto op = dyn_cast<KernelOpNameAttr>(name))
    return op.getName();
  return cast<FlatSymbolRefAttr>(name).getAttr();
}

DescriptionOp mlir::pol::lookupDescription(func::FuncOp function) {
  auto module = dyn_cast<ModuleOp>(function->getParentOp());
  if (!module)
    return nullptr;
  for (auto description : module.getOps<DescriptionOp>())
    if (description.getFunction() == function.getSymName())
      return description;
  return nullptr;
}

BundleType Kernel::getBundleType(MLIRContext *context, BufferRole role,
                                 BundleType given) const {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  for (const BufferDescription &buffer : buffers) {
    if (buffer.role != role)
      continue;
    if (given && buffer.isOptional && !given.find(buffer.name.getValue()))
      continue;
    names.push_back(buffer.name);
    types.push_back(buffer.type);
  }
  return BundleType::get(context, names, types);
}

Type Kernel::getArgumentType(StringAttr buffer) const {
  // Ops are handles, whose methods are not const.
  DescribeOp describe = DescriptionOp(description).getDescribe();
  FunctionType type = func::FuncOp(function).getFunctionType();
  for (auto [name, argument] :
       llvm::zip_equal(describe.getNames(), describe.getArguments()))
    if (name == buffer && argument >= 0 && argument < type.getNumInputs())
      return type.getInput(argument);
  return Type(); // The description has a diagnostic of its own.
}

BundleType Kernel::getBufferBundleType(BufferRole role,
                                       SpaceTypeInterface space,
                                       TypeRange inputs) const {
  bool asMemRefs = llvm::any_of(inputs, [](Type input) {
    return isa<BaseMemRefType>(getPrimalType(input));
  });
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  for (const BufferDescription &buffer : buffers) {
    if (buffer.role != role)
      continue;
    names.push_back(buffer.name);
    types.push_back(function
                        ? getArgumentType(buffer.name)
                        : getMaterializedType(buffer.type, space, asMemRefs));
  }
  return BundleType::get(space.getContext(), names, types);
}

bool Kernel::hasRole(BufferRole role) const {
  return llvm::any_of(buffers, [&](const BufferDescription &buffer) {
    return buffer.role == role;
  });
}

bool Kernel::needsRole(BufferRole role) const {
  return llvm::any_of(buffers, [&](const BufferDescription &buffer) {
    return buffer.role == role && !buffer.isOptional;
  });
}

static FailureOr<Kernel> resolveFunction(Operation *verb,
                                         FlatSymbolRefAttr name,
                                         const KernelInvocation &invocation) {
  Kernel kernel;
  kernel.function =
      SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(verb, name);
  if (!kernel.function)
    return verb->emitOpError("expected ") << name << " to be a function";
  kernel.description = lookupDescription(kernel.function);
  if (!kernel.description)
    return verb->emitOpError("expected function ")
           << name << " to have a pol.description";
  if (invocation.attributes && !invocation.attributes.empty())
    return verb->emitOpError("expected no attributes for function ") << name;
  if (!invocation.present.empty())
    return verb->emitOpError("expected every operand of function ")
           << name << " to be present";
  if (!invocation.regions.empty())
    return verb->emitOpError("expected no regions for function ") << name;

  // A malformed description has a diagnostic of its own.
  if (kernel.description.getBody().empty() || !kernel.description.getDescribe())
    return failure();
  TypeRange wanted = kernel.description.getBody().getArgumentTypes();
  if (wanted.size() != invocation.operands.size())
    return verb->emitOpError("expected ")
           << wanted.size() << " operands for " << name << ", but got "
           << invocation.operands.size();
  for (auto [index, want, got] :
       llvm::enumerate(wanted, invocation.operands.getTypes()))
    if (want != got)
      return verb->emitOpError("expected operand ")
             << index << " for " << name << " to be " << want << ", but got "
             << got;
  kernel.description.getBuffers(kernel.buffers);
  return kernel;
}

/// Checks what an op of anybody's says: arrays, each with a name of its own.
static LogicalResult verifyAnswer(Operation *verb, StringAttr name,
                                  ArrayRef<BufferDescription> buffers) {
  llvm::SmallDenseSet<StringAttr> seen;
  for (const BufferDescription &buffer : buffers) {
    if (!isa_and_nonnull<UndefType>(buffer.type))
      return verb->emitOpError("expected kernel ")
             << name << " to describe arrays, but its " << buffer.name << " is "
             << buffer.type;
    if (buffer.name.empty() || !seen.insert(buffer.name).second)
      return verb->emitOpError("expected kernel ")
             << name << " to give each buffer a name of its own, but got "
             << buffer.name;
  }
  return success();
}

static FailureOr<Kernel> resolveOp(Operation *verb, StringAttr name,
                                   const KernelInvocation &invocation) {
  Kernel kernel;
  kernel.op = RegisteredOperationName::lookup(name, verb->getContext());
  if (!kernel.op)
    return verb->emitOpError("expected ") << name << " to be a registered op";
  auto *interface = kernel.op->getInterface<KernelOpInterface>();
  if (!interface)
    return verb->emitOpError("expected ")
           << name
           << " to be a kernel, but it does not implement "
              "KernelOpInterface";
  if (!invocation.present.empty() &&
      static_cast<size_t>(llvm::count(invocation.present, true)) !=
          invocation.operands.size())
    return verb->emitOpError("expected as many operands as are present, but "
                             "got ")
           << invocation.operands.size();
  // A name that the op does not know would be ignored.
  if (invocation.attributes)
    for (NamedAttribute option : invocation.attributes)
      if (!llvm::is_contained(kernel.op->getAttributeNames(), option.getName()))
        return verb->emitOpError("expected an attribute of ")
               << name << ", but got '" << option.getName().getValue() << "'";
  if (failed(interface->inferBuffers(invocation, kernel.buffers)) ||
      failed(verifyAnswer(verb, name, kernel.buffers)))
    return failure();
  return kernel;
}

FailureOr<Kernel> Kernel::resolve(Operation *verb, Attribute name,
                                  const KernelInvocation &invocation) {
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
    return resolveFunction(verb, symbol, invocation);
  return resolveOp(verb, cast<KernelOpNameAttr>(name).getName(), invocation);
}
