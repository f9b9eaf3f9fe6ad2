# `cpack` in a build makes the Debian package; the dependencies of a program with shared libraries are read from it.
set(CPACK_PACKAGE_NAME podrun)
set(CPACK_PACKAGE_CONTACT "The podrun maintainers <podrun@users.noreply.github.com>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run one command on every host of a cluster at once")
set(CPACK_PACKAGE_DESCRIPTION "Runs a command on every host of a TPU pod or GPU cluster over SSH.
It starts on all hosts or on none, prints their output live with
equal lines merged, and leaves no process behind.")
set(CPACK_GENERATOR DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(PODRUN_STATIC)  # stripped when it was linked, maybe for another architecture
  set(CPACK_STRIP_FILES OFF)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL aarch64)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openssh-client)
include(CPack)

# What Debian's policy asks for beside the program (12.5, 12.7). The time is the commit's (cmake/Commit.cmake).
include(GNUInstallDirs)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/changelog "podrun (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
execute_process(COMMAND gzip -9nf ${PROJECT_BINARY_DIR}/changelog)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(PODRUN_STATIC AND NOT CMAKE_CROSSCOMPILING)  # the files of a release, for both architectures
  add_custom_target(dist COMMAND ${PROJECT_SOURCE_DIR}/cmake/dist ${PROJECT_VERSION} USES_TERMINAL)
  add_dependencies(dist podrun_made)
endif()
