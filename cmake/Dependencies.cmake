# Debian's packages, found and never downloaded (.ci/packages lists them).
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
if(PODRUN_STATIC)
  include(StaticLibraries)
else()
  find_package(LibArchive REQUIRED)
  find_package(libssh REQUIRED)
  find_package(yaml-cpp REQUIRED)
  set(podrun_fmt fmt::fmt)
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(ZLIB REQUIRED)
find_path(UTF8PROC_INCLUDE_DIR utf8proc.h REQUIRED)
find_library(UTF8PROC_LIBRARY utf8proc REQUIRED)
find_path(ASIO_INCLUDE_DIR asio.hpp REQUIRED)
find_path(EVENT_INCLUDE_DIR event2/http.h REQUIRED)
find_library(EVENT_CORE_LIBRARY event_core REQUIRED)
find_library(EVENT_EXTRA_LIBRARY event_extra REQUIRED)

# asio is header-only; compiled once here, which halves the time of every other file.
add_library(asio STATIC ${CMAKE_CURRENT_LIST_DIR}/asio.cpp)
target_include_directories(asio SYSTEM PUBLIC ${ASIO_INCLUDE_DIR})
target_compile_features(asio PUBLIC cxx_std_20)
target_compile_definitions(asio PUBLIC ASIO_STANDALONE ASIO_SEPARATE_COMPILATION ASIO_NO_DEPRECATED
  ASIO_DISABLE_STD_ALIGNED_ALLOC)  # else asio.cpp and its users allocate and free in different ways
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # clang 16 with libstdc++ 12 has coroutines, asio 1.22 does not see it.
  target_compile_definitions(asio PUBLIC ASIO_HAS_CO_AWAIT ASIO_HAS_STD_COROUTINE)
endif()
target_link_libraries(asio PUBLIC Threads::Threads)
