// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/report/json_events.hpp"

// The words for files that were copied. Pure.
namespace podrun::report {

enum class Tense { did, would };

struct HostTransfer {
  std::size_t worker;
  FilesSent sent;
  bool has_attributes = false;  ///< modes or times were set
};

/// `3 files (1.2 MB) to 16 hosts · 2 deleted · 12 paths ignored (--no-ignore sends them)`, `16 hosts are up
/// to date`. Not for no hosts.
std::string describe_transfers(const std::vector<HostTransfer>& hosts, std::size_t ignored, Tense tense,
                               std::string_view separator);

/// What a host would get.
struct PlannedTransfer {
  std::size_t host = 0;           ///< its place in the list of hosts
  std::vector<std::string> sent;  ///< paths; of a directory with "/" at its end
  std::vector<std::string> deleted;
  std::vector<std::string> replaced_links = {};  ///< links that directories replace
};

/// A heading and a line for each path, once for all hosts that would get the same.
std::vector<std::string> list_transfers(const std::vector<hosts::Host>& hosts,
                                        const std::vector<PlannedTransfer>& planned);

}  // namespace podrun::report
