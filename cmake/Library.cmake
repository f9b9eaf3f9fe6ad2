# Installs the library for programs that embed podrun: libpodrun.a, libpodrun.so, the headers and find_package(podrun). The component
# is `library`, so that packages of the program alone leave it out. examples/embed uses it.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set_target_properties(podrun_core PROPERTIES OUTPUT_NAME podrun EXPORT_NAME static)

add_library(podrun_shared SHARED $<TARGET_OBJECTS:podrun_core>)
set_target_properties(podrun_shared PROPERTIES OUTPUT_NAME podrun EXPORT_NAME shared LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_libraries(podrun_shared PUBLIC Threads::Threads ${podrun_fmt} PRIVATE ${podrun_libraries})
foreach(property INTERFACE_COMPILE_DEFINITIONS INTERFACE_COMPILE_FEATURES)
  set_property(TARGET podrun_shared PROPERTY ${property} $<TARGET_PROPERTY:podrun_core,${property}>)
endforeach()

set(podrun_package ${CMAKE_INSTALL_LIBDIR}/cmake/podrun)
install(TARGETS podrun_core podrun_shared EXPORT podrun ARCHIVE COMPONENT library LIBRARY COMPONENT library
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
foreach(directory ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})  # scripts.hpp are generated
  install(DIRECTORY ${directory}/podrun DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library FILES_MATCHING
    PATTERN "*.hpp")
endforeach()
install(EXPORT podrun NAMESPACE podrun:: FILE podrunTargets.cmake DESTINATION ${podrun_package} COMPONENT library)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/podrunConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/podrunConfigVersion.cmake ${CMAKE_CURRENT_LIST_DIR}/podrunConfig.cmake
  DESTINATION ${podrun_package} COMPONENT library)
