// RUN: pol-test-opt %s --test-pol-region-gradient --canonicalize --cse | FileCheck %s

// What reverse mode makes of regions. A gradient takes the arguments of its
// function, a seed, and a destination for each array of floats.

// A bf16 array that is extended as it is read has a cotangent in f32. Nothing
// is in the way of a seed of 0: an integer that is a float is finite.

// CHECK-LABEL: func.func private @alibi_grad(
// CHECK-SAME:    %[[S:[^:]*]]: f32, %[[H:[^:]*]]: index, %[[D:[^:]*]]: i32, %[[SLOPES:[^:]*]]: memref<?xbf16>,
// CHECK-SAME:    %[[SEED:[^:]*]]: f32, %[[DSLOPES:[^:]*]]: memref<?xf32>)
// CHECK-NEXT:    %[[SLOPE:.*]] = memref.load %[[SLOPES]][%[[H]]]
// CHECK-NEXT:    %[[WIDE:.*]] = arith.extf %[[SLOPE]]
// CHECK-NEXT:    %[[DISTANCE:.*]] = arith.sitofp %[[D]]
// CHECK-NEXT:    %[[BIAS:.*]] = arith.mulf %[[WIDE]], %[[DISTANCE]]
// CHECK-NEXT:    %[[VALUE:.*]] = arith.addf %[[S]], %[[BIAS]]
// CHECK-NEXT:    %[[SHARE:.*]] = arith.mulf %[[SEED]], %[[DISTANCE]] : f32
// CHECK-NEXT:    %[[OLD:.*]] = memref.load %[[DSLOPES]][%[[H]]]
// CHECK-NEXT:    %[[NEW:.*]] = arith.addf %[[OLD]], %[[SHARE]] : f32
// CHECK-NEXT:    memref.store %[[NEW]], %[[DSLOPES]][%[[H]]]
// CHECK-NEXT:    return %[[VALUE]], %[[SEED]]
func.func private @alibi(%s: f32, %h: index, %d: i32, %slopes: memref<?xbf16>) -> f32 {
  %slope = memref.load %slopes[%h] : memref<?xbf16>
  %wide = arith.extf %slope : bf16 to f32
  %distance = arith.sitofp %d : i32 to f32
  %bias = arith.mulf %wide, %distance : f32
  %result = arith.addf %s, %bias : f32
  return %result : f32
}
func.func private @alibi_grad(f32, index, i32, memref<?xbf16>, f32, memref<?xf32>) -> (f32, f32)
    attributes {test.gradient_of = @alibi}

// Where the branch is not taken its cotangent is 0, and so is what is before it.

// CHECK-LABEL: func.func private @branch_grad(
// CHECK-SAME:    %[[S:[^:]*]]: f64, %[[SEED:[^:]*]]: f64)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK:         %[[COND:.*]] = arith.cmpf ogt, %[[S]], %[[ZERO]]
// CHECK:         %[[TAKEN:.*]] = arith.select %[[COND]], %[[SEED]], %[[ZERO]]
// CHECK:         %[[OTHER:.*]] = arith.select %[[COND]], %[[ZERO]], %[[SEED]]
// CHECK:         %[[QUOTIENT:.*]] = arith.divf %[[TAKEN]], %[[S]]
// CHECK:         %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[TAKEN]], %[[ZERO]]
// CHECK:         %[[OF_LOG:.*]] = arith.select %[[IS_ZERO]], %[[ZERO]], %[[QUOTIENT]]
// CHECK:         %[[SUM:.*]] = arith.addf %[[OTHER]], %[[OF_LOG]]
// CHECK:         return %{{.*}}, %[[SUM]]
func.func private @branch(%s: f64) -> f64 {
  %zero = arith.constant 0.0 : f64
  %positive = arith.cmpf ogt, %s, %zero : f64
  %log = math.log %s : f64
  %result = arith.select %positive, %log, %s : f64
  return %result : f64
}
func.func private @branch_grad(f64, f64) -> (f64, f64) attributes {test.gradient_of = @branch}

// Nothing is built for what is constant, or does not reach the result.

// CHECK-LABEL: func.func private @constants_grad(
// CHECK-SAME:    %[[S:[^:]*]]: f32, %[[A:[^:]*]]: f32, %[[W:[^:]*]]: memref<?xf32>, %[[I:[^:]*]]: index, %[[SEED:[^:]*]]: f32)
// CHECK-NEXT:    %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NEXT:    %[[FACTOR:.*]] = memref.load %[[W]][%[[I]]]
// CHECK-NEXT:    %[[VALUE:.*]] = arith.mulf %[[S]], %[[FACTOR]]
// CHECK-NEXT:    %[[SHARE:.*]] = arith.mulf %[[SEED]], %[[FACTOR]]
// CHECK-NEXT:    %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[SEED]], %[[ZERO]]
// CHECK-NEXT:    %[[OF_S:.*]] = arith.select %[[IS_ZERO]], %[[ZERO]], %[[SHARE]]
// CHECK-NEXT:    return %[[VALUE]], %[[OF_S]], %[[ZERO]]
func.func private @constants(%s: f32, %a: f32, %w: memref<?xf32> {test.constant}, %i: index) -> f32 {
  %unused = math.exp %a : f32
  %factor = memref.load %w[%i] : memref<?xf32>
  %result = arith.mulf %s, %factor : f32
  return %result : f32
}
func.func private @constants_grad(f32, f32, memref<?xf32>, index, f32) -> (f32, f32, f32)
    attributes {test.gradient_of = @constants}

// Of tensors too, with each use of an element by itself; and of a number.

// CHECK-LABEL: func.func private @uses_grad(
// CHECK-SAME:    %{{.*}}: f32, %[[SCALE:[^:]*]]: f32, %[[X:[^:]*]]: tensor<?x2xf32>, %[[I:[^:]*]]: index, %[[J:[^:]*]]: index,
// CHECK-SAME:    %[[SEED:[^:]*]]: f32, %[[DX:[^:]*]]: memref<?x2xf32>)
// CHECK:         %[[C1:.*]] = arith.constant 1 : index
// CHECK:         %[[XI:.*]] = tensor.extract %[[X]][%[[I]], %[[C1]]]
// CHECK:         %[[XJ:.*]] = tensor.extract %[[X]][%[[J]], %[[C1]]]
// CHECK:         %[[DIFFERENCE:.*]] = arith.subf %[[XI]], %[[XJ]]
// CHECK:         %[[OF_SCALE:.*]] = arith.mulf %[[SEED]], %[[DIFFERENCE]]
// CHECK:         memref.store %{{.*}}, %[[DX]][%[[I]], %[[C1]]]
// CHECK:         memref.store %{{.*}}, %[[DX]][%[[J]], %[[C1]]]
// CHECK:         return %{{.*}}, %[[SEED]], %{{.*}} : f32, f32, f32
func.func private @uses(%s: f32, %scale: f32, %x: tensor<?x2xf32>, %i: index, %j: index) -> f32 {
  %c1 = arith.constant 1 : index
  %xi = tensor.extract %x[%i, %c1] : tensor<?x2xf32>
  %xj = tensor.extract %x[%j, %c1] : tensor<?x2xf32>
  %difference = arith.subf %xi, %xj : f32
  %scaled = arith.mulf %difference, %scale : f32
  %result = arith.addf %s, %scaled : f32
  return %result : f32
}
func.func private @uses_grad(f32, f32, tensor<?x2xf32>, index, index, f32, memref<?x2xf32>) -> (f32, f32, f32)
    attributes {test.gradient_of = @uses}

// Nothing passes a step, or an integer.

// CHECK-LABEL: func.func private @steps_grad(
// CHECK-SAME:    %{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NOT:     arith.mulf
// CHECK:         return %{{.*}}, %[[ZERO]], %[[ZERO]]
func.func private @steps(%s: f32, %a: f32) -> f32 {
  %floor = math.floor %s : f32
  %integer = arith.fptosi %a : f32 to i32
  %float = arith.sitofp %integer : i32 to f32
  %result = arith.addf %floor, %float : f32
  return %result : f32
}
func.func private @steps_grad(f32, f32, f32) -> (f32, f32, f32) attributes {test.gradient_of = @steps}

// Somebody else's op.

// CHECK-LABEL: func.func private @third_party_grad(
// CHECK-SAME:    %[[S:[^:]*]]: f32, %[[SEED:[^:]*]]: f32)
// CHECK-DAG:     %[[THREE:.*]] = arith.constant 3.0
// CHECK-DAG:     %[[SQUARE:.*]] = arith.mulf %[[S]], %[[S]]
// CHECK-DAG:     %[[SLOPE:.*]] = arith.mulf %[[SQUARE]], %[[THREE]]
// CHECK:         arith.mulf %[[SEED]], %[[SLOPE]]
func.func private @third_party(%s: f32) -> f32 {
  %result = test_pol.cube %s : f32
  return %result : f32
}
func.func private @third_party_grad(f32, f32) -> (f32, f32) attributes {test.gradient_of = @third_party}
