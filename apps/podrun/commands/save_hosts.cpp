// SPDX-License-Identifier: Apache-2.0
#include "commands/save_hosts.hpp"

#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/whole_file.hpp"
#include "podrun/hosts/saved_list.hpp"
#include "podrun/hosts/sources.hpp"
#include "podrun/hosts/this_machine.hpp"

namespace podrun::commands {
namespace {

/// Describes this machine's part in the saved list: the file itself does not mark it.
std::string describe_saved(const std::vector<hosts::Host>& all, bool has_all, const hosts::Probe& probe) {
  if (!has_all) return count_hosts(all.size() - 1) + " beside this machine, which is worker 0 with -i";
  const hosts::ThisMachine self(probe);
  const auto own =
      std::find_if(all.begin(), all.end(), [&self](const hosts::Host& host) { return self.is(host); });
  if (own == all.begin() || own == all.end()) return count_hosts(all.size());
  return fmt::format("{}; this machine is worker {}, with -i", count_hosts(all.size()), own - all.begin());
}

}  // namespace

std::string save_hosts(const hosts::Discovery& found, Overwrite overwrite, const hosts::Probe& probe) {
  const std::optional<std::string> path = hosts::podips_path(probe);
  if (!path) throw UsageError("--save: no $HOME to write podips.txt to (set it)");
  struct stat status {};
  if (overwrite == Overwrite::refuse && ::lstat(path->c_str(), &status) == 0) {
    throw UsageError(fmt::format("--save: {} exists (replace it with --force)", *path));
  }
  const std::string text = hosts::saved_list(found.all, probe);
  if (text.empty()) throw UsageError("--save: there is no other host to write (name some with -H)");
  if (!replace_file(*path, text)) throw UsageError(fmt::format("cannot write {:?}: {}", *path, errno_text()));
  const bool has_all =
      static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) >= found.all.size();
  return fmt::format("wrote {}: {}", *path, describe_saved(found.all, has_all, probe));
}

}  // namespace podrun::commands
