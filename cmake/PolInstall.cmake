# The installed package: headers, tablegen files and what CMake needs to find
# it. Libraries and tools are installed where they are made (PolTargets.cmake).
include(CMakePackageConfigHelpers)

set(POL_INSTALL_CMAKE_DIR lib/cmake/pol)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/ DESTINATION include
  FILES_MATCHING PATTERN "*.inc" PATTERN CMakeFiles EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/pol)

# The runtime is an export of its own, which is of use without any MLIR.
foreach(export PolTargets PolRuntimeTargets)
  install(EXPORT ${export} NAMESPACE Pol:: DESTINATION ${POL_INSTALL_CMAKE_DIR})
endforeach()

set(POL_INSTALL_INCLUDE_DIR include)
set(POL_INSTALL_TOOLS_DIR bin)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/PolConfig.cmake.in PolConfig.cmake
  INSTALL_DESTINATION ${POL_INSTALL_CMAKE_DIR}
  PATH_VARS POL_INSTALL_INCLUDE_DIR POL_INSTALL_TOOLS_DIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(PolConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/PolConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/PolConfigVersion.cmake
  DESTINATION ${POL_INSTALL_CMAKE_DIR})
