# Stops early, with what to do, where cmake or the compiler is too old, as in Ubuntu 20.04 and 22.04. Tests build with g++ 12 and 14
# and with clang 16.
function(podrun_require name version wanted)
  if(version VERSION_LESS wanted)
    message(FATAL_ERROR
      " ${name} ${version} is too old to build podrun: it needs ${wanted} (Debian 12 and 13 and Ubuntu 24.04 have it).\n"
      " Take the static file, which runs on any Linux: unpack podrun-*-linux-ARCHITECTURE.tar.gz of a release,\n"
      " or make the file, where docker is, with `docker build -o . .`,\n"
      " or on Debian 12 with `cmake --workflow --preset static`, and copy it here.")
  endif()
endfunction()

if(NOT CMAKE_CXX_COMPILER_ID)
  podrun_require(cmake ${CMAKE_VERSION} 3.18)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  podrun_require(g++ ${CMAKE_CXX_COMPILER_VERSION} 12)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  podrun_require(clang ${CMAKE_CXX_COMPILER_VERSION} 16)
endif()
