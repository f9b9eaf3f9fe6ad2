// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace podrun::transfer {

/// A copy of a git repository on this machine.
struct Clone {
  std::string directory;
  std::string commit;  ///< its id, shortened as git does
};

/// Fetches `ref` (a branch, a tag or a commit; empty: the HEAD) of the repository at `url` into a directory
/// below `cache` that only the user can read and later calls use again. `say` gets what it waits for, if that
/// takes long. Throws UsageError that begins with `where`.
Clone clone_repository(const std::string& url, const std::string& ref, const std::string& cache,
                       std::string_view where, const std::function<void(const std::string&)>& say);

}  // namespace podrun::transfer
