# How the targets of this tree are made.

# Checks stay on in every build: LLVM's packages have them off, pol's may not.
add_compile_options(-Wall -Wextra -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
if(POL_SANITIZE)
  # libMLIR is not instrumented: what compares its types and containers with
  # ours has to stay off.
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer
    -fno-sanitize=vptr,function -fno-sanitize-recover=undefined
    -U_GLIBCXX_SANITIZE_VECTOR)
  add_link_options(-fsanitize=address,undefined)
endif()

# Installed tools find the pinned LLVM's libraries where the built ones do.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# pol_install_library(target [export]): part of the installed package. The
# export is PolTargets, whose users need MLIR, unless it is given.
function(pol_install_library target)
  set(export PolTargets ${ARGN})
  list(GET export -1 export)
  install(TARGETS ${target} EXPORT ${export}
    ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
endfunction()

# pol_add_library(target sources... [DEPENDS tablegen targets...]
#                 [LINK_LIBS libraries...]): a library of the dialect. All of
# MLIR comes from one shared library, so that there is one copy of its type ids
# and command-line options in a process.
function(pol_add_library target)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${target} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Pol::${target} ALIAS ${target})
  if(ARG_DEPENDS)
    add_dependencies(${target} ${ARG_DEPENDS})
  endif()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(${target} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  pol_install_library(${target})
endfunction()

# pol_add_tool(target sources... [LINK_LIBS libraries...])
function(pol_add_tool target)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${target} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  install(TARGETS ${target} EXPORT PolTargets RUNTIME DESTINATION bin)
endfunction()
