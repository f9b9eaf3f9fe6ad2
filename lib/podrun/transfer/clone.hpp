// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace podrun::transfer {

/// A copy of a git repository on this machine.
struct Clone {
  std::string directory;
  std::string commit;  ///< its id, shortened as git does
};

/// Fetches `ref` (a branch, a tag or a commit; empty: the HEAD) of the repository at `url`, and checks it out
/// in a directory below `cache`, which later calls use again; others cannot read it. The URL is on no command
/// line. Throws UsageError that begins with `where`.
Clone clone_repository(const std::string& url, const std::string& ref, const std::string& cache,
                       std::string_view where);

}  // namespace podrun::transfer
