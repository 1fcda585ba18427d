// RUN: pol-opt %s --pol-set-target=cpu=x86-64-v4 | FileCheck %s --check-prefix=V4
// RUN: pol-opt %s --pol-set-target="cpu=neon max-workers=3" | FileCheck %s --check-prefix=NEON
// RUN: pol-opt %s --pol-set-target=cpu=host | FileCheck %s --check-prefix=HOST
// RUN: pol-opt %s --pol-set-target | FileCheck %s --check-prefix=DEFAULT
// RUN: pol-opt %s --pol-set-target=cpu=x86-64-v2 --pol-set-target \
// RUN:   | FileCheck %s --check-prefix=KEPT
// RUN: pol-opt %s --pol-set-target=cpu=host --pol-set-target=cpu=none \
// RUN:   | FileCheck %s --check-prefix=NONE
// RUN: not pol-opt %s --pol-set-target=cpu=pentium 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// RUN: not pol-opt %s --pol-set-target=max-workers=-1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WORKERS
// RUN: sed 's/test.another = 1/dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"pol.target" = 5>>/' %s \
// RUN:   | not pol-opt --pol-set-target 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: pol-opt %s --pol-set-target | sed 's/f16 = true/f16 = true, row_group = 1/' \
// RUN:   | pol-opt --pol-set-target=max-workers=2 | FileCheck %s --check-prefix=ROWS
// RUN: pol-opt %s --pol-set-target | sed 's/f16 = true/f16 = true, row_group = 3/' \
// RUN:   | not pol-opt 2>&1 | FileCheck %s --check-prefix=THREE

// V4: "pol.target" = #pol.target<vector_bits = 512, vector_registers = 32, {{.*}} max_workers = 8, f16 = true>
// NEON: #pol.target<vector_bits = 128, vector_registers = 32, {{.*}} max_workers = 3, f16 = true>
// HOST: #pol.target<vector_bits =
// DEFAULT: #pol.target<vector_bits = 256, vector_registers = 16,
// KEPT: #pol.target<vector_bits = 128, vector_registers = 16, {{.*}} f16 = false>
// NONE-NOT: dlti
// NONE: test.another = 1
// UNKNOWN: error: expected the cpu to be x86-64-v2, x86-64-v3, x86-64-v4, neon, host or none, but got 'pentium'
// WORKERS: error: expected max_workers to be 1 to 65536, but got -1
// NUMBER: error: expected pol.target of the device CPU to be a #pol.target, but got 5 : i64
// ROWS: max_workers = 2, f16 = true, row_group = 1>
// THREE: error: expected row_group to be a power of two, 1 to 8, but got 3
module attributes {test.another = 1} {
}
