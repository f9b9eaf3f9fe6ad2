# The language level, warnings and sanitizers of our own code: link podrun_standards privately.
add_library(podrun_standards INTERFACE)
target_compile_features(podrun_standards INTERFACE cxx_std_20)
target_compile_options(podrun_standards INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wconversion
  # g++ 12 sees the first two in its own std::string, the third in the frames of coroutines.
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-stringop-overflow;-Wno-mismatched-new-delete>"
  $<$<BOOL:${PODRUN_DEV}>:-Werror>)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(PODRUN_SANITIZE)
  # Everything that is linked together is built alike, the asio objects included.
  add_compile_options(-fsanitize=${PODRUN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PODRUN_SANITIZE})
  if(PODRUN_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-tsan)  # std::atomic_thread_fence inside asio
  endif()
endif()
