# The language level, warnings and sanitizers of our own code: link podrun_standards privately.
add_library(podrun_standards INTERFACE)
target_compile_features(podrun_standards INTERFACE cxx_std_20)
target_compile_options(podrun_standards INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion
  # g++ 12 sees the first two in its own std::string, the third in the frames of coroutines.
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-mismatched-new-delete>"
  # In files that are compiled as one, g++ would warn of each anonymous namespace, and clang of a name that another file has too.
  "$<$<BOOL:${CMAKE_UNITY_BUILD}>:$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>;$<$<CXX_COMPILER_ID:Clang>:-Wno-shadow>>"
  $<$<BOOL:${PODRUN_DEV}>:-Werror>)
target_compile_definitions(podrun_standards INTERFACE $<$<BOOL:${PODRUN_DEV}>:PODRUN_DEV>)  # base/expect.hpp
set(CMAKE_CXX_EXTENSIONS OFF)

# Developers' builds use lld, which links four times as fast, and ccache, if these are installed.
if(PODRUN_DEV)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld PODRUN_HAS_LLD)
  if(PODRUN_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  find_program(CCACHE ccache)
  if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)  # what ccache needs to see when a precompiled header is another one
      add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
    else()
      add_compile_options(-fpch-preprocess)
    endif()
  endif()
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

option(PODRUN_FUZZ "Build the libFuzzer binaries (Clang, with PODRUN_SANITIZE=address,undefined)" OFF)
if(PODRUN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(PODRUN_SANITIZE)
  # Everything that is linked together is built alike, the asio objects included.
  add_compile_options(-fsanitize=${PODRUN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PODRUN_SANITIZE})
  if(PODRUN_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # std::atomic_thread_fence inside asio
  endif()
endif()
