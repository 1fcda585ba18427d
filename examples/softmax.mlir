// build/bin/pol-run examples/softmax.mlir --entry softmax_applied --input examples/data/activations.npy --space arena:1M --memory-report
//
// Softmax over the last dimension, as an ordinary function that knows nothing
// of pol; what it needs, as data beside it; and two ways to run it. At the end,
// the same as an op that comes with pol, and its gradient.

// The kernel. It is in destination style: it computes into %y, and what it has
// to remember per row goes into %max and %sum. It allocates nothing, so it runs
// wherever its caller's buffers are.
func.func @softmax(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>,
                   %max: tensor<?xf32>, %sum: tensor<?xf32>)
    -> tensor<?x?xf32> {
  // The largest element of each row. Subtracting it keeps exp from overflowing.
  %lowest = arith.constant 0xFF800000 : f32 // -inf
  %max0 = linalg.fill ins(%lowest : f32) outs(%max : tensor<?xf32>)
      -> tensor<?xf32>
  %rowMax = linalg.reduce { arith.maximumf }
      ins(%x : tensor<?x?xf32>) outs(%max0 : tensor<?xf32>) dimensions = [1]

  // The numerators, into the output.
  %exps = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %rowMax : tensor<?x?xf32>, tensor<?xf32>)
      outs(%y : tensor<?x?xf32>) {
  ^bb0(%a: f32, %m: f32, %unused: f32):
    %shifted = arith.subf %a, %m : f32
    %e = math.exp %shifted : f32
    linalg.yield %e : f32
  } -> tensor<?x?xf32>

  // Their sum.
  %zero = arith.constant 0.0 : f32
  %sum0 = linalg.fill ins(%zero : f32) outs(%sum : tensor<?xf32>)
      -> tensor<?xf32>
  %rowSum = linalg.reduce { arith.addf }
      ins(%exps : tensor<?x?xf32>) outs(%sum0 : tensor<?xf32>) dimensions = [1]

  // The quotients, in place.
  %quotients = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%rowSum : tensor<?xf32>) outs(%exps : tensor<?x?xf32>) {
  ^bb0(%s: f32, %e: f32):
    %q = arith.divf %e, %s : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %quotients : tensor<?x?xf32>
}

// Its description: what each of its buffers is called, which argument it is
// passed as (`y(1)` is argument 1), and its element type and shape. A
// description may look at shapes, never at elements, and holds no memory.
// Outputs are what the caller keeps; scratch is dead after the call.
pol.description for @softmax(%x: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %y = pol.undef like %x : tensor<?x?xf32>
  %row = pol.undef [%rows] : !pol.undef<?xf32>
  pol.describe outputs {y(1) = %y : !pol.undef<?x?xf32>}
               scratch {max(2) = %row : !pol.undef<?xf32>,
                        sum(3) = %row : !pol.undef<?xf32>}
}

// Step by step. The space is an argument: the caller decides whether %arena is
// an arena or the heap (pol-run's --space).
func.func @softmax_by_hand(%arena: !pol.arena, %x: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  // What are the outputs for this %x? Data: element types and shapes.
  %spec = pol.outputs @softmax(%x)
      : (tensor<?x?xf32>) -> !pol.bundle<{y: !pol.undef<?x?xf32>}>
  // Now memory, from the space itself: it is still there after the call.
  %out = pol.alloc %arena, %spec
      : !pol.arena, !pol.bundle<{y: !pol.undef<?x?xf32>}>
      -> !pol.bundle<{y: tensor<?x?xf32>}>
  // Scratch comes from a frame, and is reclaimed when the frame closes. That
  // nothing of it escapes is checked when this is compiled.
  %y = pol.frame on %arena : !pol.arena -> tensor<?x?xf32> {
  ^bb0(%frame: !pol.frame):
    %scratch = pol.scratch @softmax(%x) in %frame
        : (tensor<?x?xf32>), !pol.frame
        -> !pol.bundle<{max: tensor<?xf32>, sum: tensor<?xf32>}>
    // The bundles' entries become the function's arguments, by name.
    %0 = pol.call @softmax(%x) outputs(%out) scratch(%scratch)
        : (tensor<?x?xf32>), !pol.bundle<{y: tensor<?x?xf32>}>,
          !pol.bundle<{max: tensor<?xf32>, sum: tensor<?xf32>}>
        -> tensor<?x?xf32>
    pol.yield %0 : tensor<?x?xf32>
  }
  return %y : tensor<?x?xf32>
}

// All of that in one op.
func.func @softmax_applied(%arena: !pol.arena, %x: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %y = pol.apply @softmax(%x) in %arena
      : (tensor<?x?xf32>), !pol.arena -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// pol has this kernel as an op, which keeps what it needs per row in registers.
// The same verbs ask it, by its name.
func.func @softmax_op(%arena: !pol.arena, %x: tensor<?x?xf32>)
    -> tensor<?x?xf32> {
  %y = pol.apply "pol.softmax"(%x) in %arena
      : (tensor<?x?xf32>), !pol.arena -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Backward: dx = y * (dy - sum(dy * y)). The kernel reads y, which the caller
// has anyway, so there are no checkpoints. x is there to be duplicated: its
// shadow, a buffer of the caller's, is where dx goes.
func.func @softmax_op_grad(%arena: !pol.arena, %y: tensor<?x?xf32>,
                           %dy: tensor<?x?xf32>,
                           %x: !pol.duplicated<tensor<?x?xf32>>)
    -> tensor<?x?xf32> {
  %dx = pol.apply "pol.softmax_grad"(%y, %dy, %x) in %arena
      : (tensor<?x?xf32>, tensor<?x?xf32>, !pol.duplicated<tensor<?x?xf32>>),
        !pol.arena -> tensor<?x?xf32>
  return %dx : tensor<?x?xf32>
}
