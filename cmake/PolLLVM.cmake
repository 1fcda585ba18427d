# Finds the MLIR that cmake/LLVMVersion.txt pins, in MLIR_DIR if that is set (as
# cmake/Toolchain.cmake does) or where CMake finds it.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/LLVMVersion.txt POL_LLVM_VERSION LIMIT_COUNT 1)

find_package(MLIR ${POL_LLVM_VERSION} REQUIRED CONFIG)
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# Where add_mlir_doc and tablegen put what they make.
set(MLIR_BINARY_DIR ${PROJECT_BINARY_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})

# tablegen finds pol's own .td files, in this tree, beside MLIR's.
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(_llvm_definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${_llvm_definitions})
