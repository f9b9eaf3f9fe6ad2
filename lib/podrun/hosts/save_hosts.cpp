// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/save_hosts.hpp"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_views.hpp"
#include "podrun/hosts/sources.hpp"
#include "podrun/hosts/this_machine.hpp"
#include "podrun/hosts/tpu_metadata.hpp"

namespace podrun::hosts {
namespace {

/// Describes this machine's part in the saved list: the file itself does not mark it.
std::string describe_saved(const std::vector<Host>& all, bool has_all, const Probe& probe) {
  if (!has_all) return count_hosts(all.size() - 1) + " beside this machine, which is worker 0 with -i";
  const ThisMachine self(probe);
  const auto own = std::find_if(all.begin(), all.end(), [&self](const Host& host) { return self.is(host); });
  if (own == all.begin() || own == all.end()) return count_hosts(all.size());
  return fmt::format("{}; this machine is worker {}, with -i", count_hosts(all.size()), own - all.begin());
}

/// The bytes of an IPv4 address; empty for other text.
std::vector<std::uint8_t> ipv4_bytes(const std::string& text) {
  std::vector<std::uint8_t> bytes(4);
  return ::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ? bytes : std::vector<std::uint8_t>();
}

/// Whether all hosts are private addresses of a network that this machine seems not to be on: its own
/// addresses begin with other bytes.
bool seem_elsewhere(const std::vector<Host>& all, const Probe& probe) {
  std::set<std::pair<std::uint8_t, std::uint8_t>> own_networks;
  for (const std::string& name : probe.own_names()) {
    if (const auto bytes = ipv4_bytes(name); !bytes.empty()) own_networks.emplace(bytes[0], bytes[1]);
  }
  return std::all_of(all.begin(), all.end(), [&own_networks](const Host& host) {
    const auto bytes = ipv4_bytes(address_of(host));
    return is_private_address(address_of(host)) && !own_networks.contains({bytes[0], bytes[1]});
  });
}

}  // namespace

std::vector<std::string> save_hosts(const std::vector<Host>& all, bool may_replace, const Probe& probe) {
  const std::optional<std::string> path = podips_path(probe);
  if (!path) throw UsageError("--save: no $HOME to write podips.txt to (set it)");
  struct stat status {};
  if (!may_replace && ::lstat(path->c_str(), &status) == 0) {
    throw UsageError(fmt::format("--save: {} exists (replace it with --force)", *path));
  }
  const std::string text = all.empty() ? "" : saved_list(all, probe);
  if (text.empty()) throw UsageError("--save: there is no other host to write (name some with -H)");
  if (!replace_file(*path, text)) throw UsageError(fmt::format("cannot write {:?}: {}", *path, errno_text()));
  const auto lines = std::count(text.begin(), text.end(), '\n') - (text.starts_with('#') ? 1 : 0);
  const bool has_all = static_cast<std::size_t>(lines) >= all.size();
  std::vector<std::string> notes{fmt::format("wrote {}: {}", *path, describe_saved(all, has_all, probe))};
  if (!is_google_machine(probe) && seem_elsewhere(all, probe)) {
    notes.emplace_back(
        "these are addresses of a private network that this machine does not seem to be on (--external takes "
        "the external addresses from gcloud's description)");
  }
  return notes;
}

}  // namespace podrun::hosts
