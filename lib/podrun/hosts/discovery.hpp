// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podrun/base/error.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/hosts/sources.hpp"

namespace podrun {

/// Whether this machine takes part where the list alone would leave it out (`-i`).
enum class IncludeLocal { no, yes };

/// Whether a host may be given twice (`--allow-repeats`).
enum class Repeats { refuse, allow };

/// What the user said about which hosts.
struct HostQuery {
  std::vector<std::string> lists;       ///< each `-H`
  std::string lists_from = "-H";        ///< where they stand, for people
  std::optional<std::string> hostfile;  ///< `--hostfile`
  std::vector<std::string> exclude;     ///< each `-x`
  std::string exclude_from = "-x";      ///< where they stand, for people
  std::optional<std::string> ranks;     ///< `--ranks`
  IncludeLocal include_local = IncludeLocal::no;
  Repeats repeats = Repeats::refuse;
  bool metadata_only = false;             ///< only the metadata server is asked (`metadata: true` of a pod)
  ReadDescription read_description = {};  ///< what `-H -` may be beside a list
};

/// The hosts of a run, and how they were found.
struct Discovery {
  std::vector<Host> hosts;         ///< never empty
  std::vector<Host> all;           ///< the list before `-x`, `--ranks` and the want of `-i` made it smaller
  std::vector<Attempt> tried;      ///< empty where the hosts were chosen
  std::vector<std::string> notes;  ///< what the user should know of the list
};

/// No source has a list.
class NoHosts : public UsageError {
 public:
  NoHosts(const std::string& what, std::vector<Attempt> where) : UsageError(what), tried(std::move(where)) {}

  std::vector<Attempt> tried;
};

/// Whether `-H -` or `-x -` makes discover() consume the standard input.
bool reads_standard_input(const HostQuery& query);

/// The hosts of the run, in the order of their list: the chosen one, else that of the first source that
/// answers. Throws NoHosts when there are none, UsageError when a list is wrong or a choice matches nothing.
Discovery discover(const HostQuery& query, const Probe& probe);

}  // namespace podrun
