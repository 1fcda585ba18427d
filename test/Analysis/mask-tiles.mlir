// RUN: pol-test-opt %s --test-pol-masks --cse | FileCheck %s

// What is emitted for boxes that are rows of four, and written as rows of the
// class, the keys and the queries.

// Ends are compared, with no loop and no guard: causal is empty where the first
// key is not before the last query's end, and drops a key where one is after the
// first query.
// CHECK-LABEL: func.func @causal_answers
// CHECK: %[[Q0:.*]] = memref.load %{{.*}}[%{{.*}}, %c0]
// CHECK-NEXT: %[[Q1:.*]] = memref.load %{{.*}}[%{{.*}}, %c1]
// CHECK-NEXT: %[[K0:.*]] = memref.load %{{.*}}[%{{.*}}, %c2]
// CHECK-NEXT: %[[K1:.*]] = memref.load %{{.*}}[%{{.*}}, %c3]
// CHECK-DAG: %[[HAS_QUERIES:.*]] = arith.cmpi slt, %[[Q0]], %[[Q1]] : index
// CHECK-DAG: %[[END:.*]] = arith.minsi %[[K1]], %[[Q1]] : index
// CHECK: %[[HAS_KEYS:.*]] = arith.cmpi slt, %[[K0]], %[[END]] : index
// CHECK: %[[KEEPS:.*]] = arith.andi %[[HAS_QUERIES]], %[[HAS_KEYS]] : i1
// CHECK: %[[AFTER:.*]] = arith.addi %[[Q0]], %c1 : index
// CHECK: %[[FIRST:.*]] = arith.maxsi %[[K0]], %[[AFTER]] : index
// CHECK: %[[HAS_LATE:.*]] = arith.cmpi slt, %[[FIRST]], %[[K1]] : index
// CHECK: %[[DROPS:.*]] = arith.andi %[[HAS_QUERIES]], %[[HAS_LATE]] : i1
// CHECK: %[[KEPT:.*]] = arith.select %[[DROPS]], %c1_i32, %c2_i32 : i32
// CHECK: %[[CLASS:.*]] = arith.select %[[KEEPS]], %[[KEPT]], %c0_i32 : i32
// CHECK-NOT: scf
// CHECK: %[[LAST:.*]] = arith.select %[[HAS_QUERIES]], %[[END]], %[[K0]] : index
// CHECK: %[[KEYS:.*]] = arith.minsi %[[K0]], %[[K1]] : index
// CHECK: %[[KEYS_END:.*]] = arith.maxsi %[[KEYS]], %[[LAST]] : index
// CHECK-NOT: scf
// CHECK: memref.store %[[KEYS]], %{{.*}}[%{{.*}}, %c1]
// CHECK: memref.store %[[KEYS_END]], %{{.*}}[%{{.*}}, %c2]
func.func @causal(%b: index, %h: index, %q: index, %kv: index) -> i1 {
  %kept = arith.cmpi sle, %kv, %q : index
  return %kept : i1
}

// The least and greatest id of the queries, and of the keys, by a loop over each,
// clipped to the array; keys and queries are not looked for in ids.
// CHECK-LABEL: func.func @documents_answers
// CHECK-SAME: %[[BATCH:.*]]: index, %{{.*}}: index, %[[IDS:.*]]: tensor<2x?xi32>,
// CHECK: %[[OF_Q:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} iter_args(%{{.*}} = %c2147483647, %{{.*}} = %c-2147483648)
// CHECK-NEXT: tensor.extract %[[IDS]][%[[BATCH]], %[[I]]]
// CHECK: %[[OF_K:.*]]:2 = scf.for
// CHECK: arith.cmpi sle, %[[OF_Q]]#0, %[[OF_K]]#1 : index
// CHECK: arith.cmpi sle, %[[OF_K]]#0, %[[OF_Q]]#1 : index
// CHECK: arith.cmpi sle, %[[OF_Q]]#1, %[[OF_K]]#0 : index
// CHECK: arith.cmpi sle, %[[OF_K]]#1, %[[OF_Q]]#0 : index
// CHECK-NOT: scf.for
// CHECK: return
func.func @documents(%b: index, %h: index, %q: index, %kv: index,
                     %ids: tensor<2x?xi32>) -> i1 {
  %id_q = tensor.extract %ids[%b, %q] : tensor<2x?xi32>
  %id_k = tensor.extract %ids[%b, %kv] : tensor<2x?xi32>
  %kept = arith.cmpi eq, %id_q, %id_k : i32
  return %kept : i1
}

// A shift that may be any number bounds nothing where it is far from 0.
// CHECK-LABEL: func.func @far_answers
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[SHIFT:.*]]: index,
// CHECK: %[[MIN:.*]] = arith.cmpi sge, %[[SHIFT]], %c-1729382256910270464 : index
// CHECK: %[[MAX:.*]] = arith.cmpi sle, %[[SHIFT]], %c1729382256910270464 : index
// CHECK: %[[NEAR:.*]] = arith.andi %[[MIN]], %[[MAX]] : i1
// CHECK: arith.select %[[NEAR]], %{{.*}}, %c-4611686018427387904 : index
func.func @far(%b: index, %h: index, %q: index, %kv: index, %shift: index)
    -> i1 {
  %last = arith.addi %q, %shift : index
  %kept = arith.cmpi sle, %kv, %last : index
  return %kept : i1
}

// What the mask loads whatever the position is loaded where there is one: there
// may be nothing in the array otherwise. A load at the batch is always fine.
// CHECK-LABEL: func.func @first_answers
// CHECK: %[[HAS_POSITIONS:.*]] = arith.andi
// CHECK-NEXT: scf.if %[[HAS_POSITIONS]] -> (i32) {
// CHECK-NEXT: tensor.extract
// CHECK: } else {
// CHECK-NEXT: scf.yield %c0_i32 : i32
func.func @first(%b: index, %h: index, %q: index, %kv: index,
                 %lengths: tensor<?xindex>) -> i1 {
  %zero = arith.constant 0 : index
  %length = tensor.extract %lengths[%zero] : tensor<?xindex>
  %kept = arith.cmpi slt, %kv, %length : index
  return %kept : i1
}

// CHECK-LABEL: func.func @lengths_answers
// CHECK-NOT: scf.if
// CHECK: return
func.func @lengths(%b: index, %h: index, %q: index, %kv: index,
                   %lengths: tensor<?xindex>) -> i1 {
  %length = tensor.extract %lengths[%b] : tensor<?xindex>
  %kept = arith.cmpi slt, %kv, %length : index
  return %kept : i1
}

// Of all boxes: it is an interval of keys for each query, and depends on the
// batch.
// CHECK-LABEL: func.func @window_info
// CHECK: %[[BITS:.*]] = arith.constant 6 : i32
// CHECK: return %[[BITS]]
func.func @window(%b: index, %h: index, %q: index, %kv: index,
                  %windows: tensor<2xi32>) -> i1 {
  %loaded = tensor.extract %windows[%b] : tensor<2xi32>
  %window = arith.index_cast %loaded : i32 to index
  %behind = arith.subi %q, %kv : index
  %near = arith.cmpi sle, %behind, %window : index
  %causal = arith.cmpi sge, %behind, %b : index
  %kept = arith.andi %near, %causal : i1
  return %kept : i1
}
