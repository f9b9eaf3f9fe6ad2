// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podrun/base/error.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/hosts/sources.hpp"

namespace podrun::hosts {

/// Whether this machine takes part even if its list's rule leaves it out (`-i`).
enum class IncludeLocal { no, yes };

/// Whether a host may be given twice (`--allow-repeats`).
enum class Repeats { refuse, allow };

/// The user's choice of hosts.
struct HostQuery {
  std::vector<std::string> lists;       ///< each `-H`
  std::string lists_from = "-H";        ///< their place, for messages
  std::optional<std::string> hostfile;  ///< `--hostfile`
  std::optional<std::string> command;   ///< `--hosts-command`
  std::vector<std::string> exclude;     ///< each `-x`
  std::string exclude_from = "-x";      ///< their place, for messages
  std::optional<std::string> workers;   ///< `--workers`
  IncludeLocal include_local = IncludeLocal::no;
  Repeats repeats = Repeats::refuse;
  bool by_via = false;         ///< hosts are reached by `--via`, so a pod of Kubernetes is one
  bool external = false;       ///< `--external`: read_description gives external addresses
  bool metadata_only = false;  ///< ask only the metadata server (`metadata: true` of a pod)
  /// Reads `-H -`, and the output of `command`, if they are not plain lists.
  ReadDescription read_description = {};
  /// Runs `command` and returns its output. Throws UsageError.
  std::function<std::string(const std::string& command, const Probe&)> read_command = {};
};

/// The hosts of a run, and how they were found.
struct Discovery {
  std::vector<Host> hosts;  ///< never empty
  std::vector<Host> all;    ///< the whole list, before `-x`, `--workers` or a missing `-i` removed hosts
  std::vector<TriedSource> tried;  ///< empty if the user chose the hosts
  std::vector<std::string> notes;  ///< remarks on the list for the user
};

/// Thrown if no source has a list.
class NoHosts : public UsageError {
 public:
  NoHosts(const std::string& what, std::string below_the_list, std::vector<TriedSource> where)
      : UsageError(what), short_message(std::move(below_the_list)), tried(std::move(where)) {}

  std::string short_message;  ///< for a reader who sees `tried`
  std::vector<TriedSource> tried;
};

/// Whether discover() reads standard input: `-H -` or `-x -`.
bool reads_standard_input(const HostQuery& query);

/// Finds the hosts of the run, in the order of their list: the user's list, else the list of the first source
/// that answers. Throws NoHosts if there are none, UsageError if a list is wrong or an option matches no
/// host.
Discovery discover(const HostQuery& query, const Probe& probe);

/// The index of the host with this worker number, or else with this name. Throws UsageError, with `where` in
/// front, if there is none or the name is not clear.
std::size_t find_host(const std::vector<Host>& hosts, const std::string& wanted, const std::string& where);

/// Adds a host of the whole list, as find_host() finds it, to those of the run, at its place.
void include_host(Discovery& discovery, const std::string& wanted, const std::string& where);

/// Keeps the hosts that `--workers` selects (nothing: all) and `-x` does not exclude, with their worker
/// numbers. Throws UsageError if an entry matches nothing, or no host is left.
void narrow(std::vector<Host>& hosts, const std::vector<Host>& exclude,
            const std::optional<std::string>& workers);

}  // namespace podrun::hosts
