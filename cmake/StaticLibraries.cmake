# The static libraries of Debian's packages, as the targets that others use: ssh, yaml-cpp, ${podrun_fmt}.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
find_library(SSH_LIBRARY ssh REQUIRED)
find_library(YAML_CPP_LIBRARY yaml-cpp REQUIRED)
find_path(SSH_INCLUDE_DIR libssh/libssh.h REQUIRED)

add_library(gssapi_stub STATIC ${CMAKE_CURRENT_LIST_DIR}/gssapi_stub.cpp)
add_library(ssh INTERFACE)
target_include_directories(ssh SYSTEM INTERFACE ${SSH_INCLUDE_DIR})
target_link_libraries(ssh INTERFACE ${SSH_LIBRARY} gssapi_stub OpenSSL::Crypto ZLIB::ZLIB)
add_library(yaml-cpp INTERFACE)
target_link_libraries(yaml-cpp INTERFACE ${YAML_CPP_LIBRARY})
set(podrun_fmt fmt::fmt-header-only)  # there is no libfmt.a
add_link_options(-static)
add_compile_definitions(PODRUN_STATIC)
