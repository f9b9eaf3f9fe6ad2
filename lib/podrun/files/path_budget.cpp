// SPDX-License-Identifier: Apache-2.0
#include "podrun/files/path_budget.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/link/failure.hpp"

namespace podrun::files {
namespace {

[[noreturn]] void refuse(std::string detail) {
  throw link::HostError({link::Stage::copying, link::Cause::too_large, std::move(detail)});
}

}  // namespace

void PathBudget::take(std::size_t record, std::size_t name) {
  if (++taken_ > paths_) refuse(fmt::format("more files and directories than --max-files {}", paths_));
  bytes_ += record + 2 * name;
  if (bytes_ / kBytes >= paths_) {
    refuse(fmt::format("its names are too long for --max-files {}, which has room for {} bytes a path",
                       paths_, kBytes));
  }
}

}  // namespace podrun::files
