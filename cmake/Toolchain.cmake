# The compiler of the pinned LLVM, its linker, ccache when it is there, and
# where that LLVM's MLIR is. What the user chose is kept: CMAKE_<LANG>_COMPILER,
# CC and CXX, CMAKE_<LANG>_COMPILER_LAUNCHER, and MLIR_DIR as a cache entry or
# in the environment.

# CMake reads this file again for each compiler check, with the compiler
# already settled.
get_property(pol_in_try_compile GLOBAL PROPERTY IN_TRY_COMPILE)
if(pol_in_try_compile)
  return()
endif()

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/LLVMVersion.txt" pol_llvm_version
     LIMIT_COUNT 1)
string(REGEX MATCH "^[0-9]+" pol_llvm_major "${pol_llvm_version}")

# MLIR_DIR is <prefix>/lib/cmake/mlir. Debian keeps each version of LLVM in a
# prefix of its own, which find_package does not search.
if(NOT MLIR_DIR AND DEFINED ENV{MLIR_DIR})
  set(MLIR_DIR "$ENV{MLIR_DIR}" CACHE PATH "Folder of MLIRConfig.cmake" FORCE)
endif()
if(NOT MLIR_DIR)
  find_program(POL_LLVM_CONFIG NAMES "llvm-config-${pol_llvm_major}")
  mark_as_advanced(POL_LLVM_CONFIG)
  if(POL_LLVM_CONFIG)
    execute_process(COMMAND "${POL_LLVM_CONFIG}" --cmakedir
      OUTPUT_VARIABLE pol_llvm_cmakedir OUTPUT_STRIP_TRAILING_WHITESPACE
      COMMAND_ERROR_IS_FATAL ANY)
    get_filename_component(pol_mlir_dir "${pol_llvm_cmakedir}/../mlir" ABSOLUTE)
    set(MLIR_DIR "${pol_mlir_dir}" CACHE PATH "Folder of MLIRConfig.cmake"
        FORCE)
  endif()
endif()

# The tools beside that MLIR go before those on the PATH, which must carry the
# version in their name to be taken.
set(pol_llvm_bin)
if(MLIR_DIR)
  get_filename_component(pol_llvm_bin "${MLIR_DIR}/../../../bin" REALPATH)
endif()

function(pol_find_llvm_tool result tool)
  if(pol_llvm_bin)
    find_program(${result} NAMES ${tool} "${tool}-${pol_llvm_major}"
      PATHS "${pol_llvm_bin}" NO_DEFAULT_PATH)
  endif()
  find_program(${result} NAMES "${tool}-${pol_llvm_major}")
  mark_as_advanced(${result})
endfunction()

pol_find_llvm_tool(POL_CLANG clang)
pol_find_llvm_tool(POL_CLANGXX clang++)
if(NOT CMAKE_C_COMPILER AND NOT DEFINED ENV{CC} AND POL_CLANG)
  set(CMAKE_C_COMPILER "${POL_CLANG}")
endif()
if(NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX} AND POL_CLANGXX)
  set(CMAKE_CXX_COMPILER "${POL_CLANGXX}")
endif()

# A clang looks for ld.lld in its own folder first, so this is the lld of the
# same version.
pol_find_llvm_tool(POL_LLD ld.lld)
if(POL_LLD AND POL_CLANGXX AND CMAKE_CXX_COMPILER STREQUAL POL_CLANGXX)
  foreach(kind EXE SHARED MODULE)
    set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld")
  endforeach()
endif()

find_program(POL_CCACHE ccache)
mark_as_advanced(POL_CCACHE)
if(POL_CCACHE)
  foreach(lang C CXX)
    if(NOT DEFINED CMAKE_${lang}_COMPILER_LAUNCHER)
      set(CMAKE_${lang}_COMPILER_LAUNCHER "${POL_CCACHE}" CACHE STRING
          "What each compiler command is run through")
    endif()
  endforeach()
endif()
