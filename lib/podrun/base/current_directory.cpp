// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/current_directory.hpp"

#include <system_error>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {

std::filesystem::path current_directory(std::string_view where) {
  std::error_code error;
  std::filesystem::path directory = std::filesystem::current_path(error);
  if (error)
    throw UsageError(fmt::format("{}: the current directory is gone (change to one that exists)", where));
  return directory;
}

void check_current_directory(std::string_view where, std::string_view path) {
  if (!path.starts_with('/')) current_directory(where);
}

}  // namespace podrun
