# The static libraries of Debian's packages, as the targets that others use: ssh, yaml-cpp, LibArchive::LibArchive, ${podrun_fmt}.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
find_library(ARCHIVE_LIBRARY archive REQUIRED)
find_library(SSH_LIBRARY ssh REQUIRED)
find_library(YAML_CPP_LIBRARY yaml-cpp REQUIRED)
find_path(ARCHIVE_INCLUDE_DIR archive.h REQUIRED)
find_path(SSH_INCLUDE_DIR libssh/libssh.h REQUIRED)

add_library(gssapi_stub STATIC ${CMAKE_CURRENT_LIST_DIR}/gssapi_stub.cpp)
add_library(ssh INTERFACE)
target_include_directories(ssh SYSTEM INTERFACE ${SSH_INCLUDE_DIR})
target_link_libraries(ssh INTERFACE ${SSH_LIBRARY} gssapi_stub OpenSSL::Crypto ZLIB::ZLIB)
add_library(yaml-cpp INTERFACE)
target_link_libraries(yaml-cpp INTERFACE ${YAML_CPP_LIBRARY})
set(podrun_yaml yaml-cpp)
add_library(LibArchive::LibArchive INTERFACE IMPORTED)
target_include_directories(LibArchive::LibArchive SYSTEM INTERFACE ${ARCHIVE_INCLUDE_DIR})
target_link_libraries(LibArchive::LibArchive INTERFACE ${ARCHIVE_LIBRARY})
set(podrun_fmt fmt::fmt-header-only)  # there is no libfmt.a
add_link_options(-static)
add_compile_definitions(PODRUN_STATIC)

# The licences of everything that is linked in, and the texts that these name.
include(GNUInstallDirs)
foreach(package libasio-dev libcli11-dev libfmt-dev nlohmann-json3-dev libssh-dev libssl-dev zlib1g-dev libarchive-dev libyaml-cpp-dev
    libedit-dev libncurses-dev libbsd-dev libmd-dev libutf8proc-dev libevent-dev libnghttp2-dev libc6-dev libstdc++6)
  string(REGEX REPLACE "-dev$" "" name ${package})
  install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${name})
endforeach()
foreach(name Apache-2.0 Artistic CC0-1.0 GFDL-1.2 GPL-1 GPL-2 GPL-3 LGPL-2.1)
  install(FILES /usr/share/common-licenses/${name} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences/common-licenses)
endforeach()
