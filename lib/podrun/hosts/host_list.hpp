// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// How the first line of a list that podrun wrote begins. Such a list is read as it is, as a typed one.
inline constexpr std::string_view kMadeByPodrun = "# podrun:";

/// The hosts of a list, numbered from 0 in its order, and remarks on the list for the user.
struct HostList {
  std::vector<Host> hosts = {};
  std::vector<std::string> notes = {};
  bool has_description = false;  ///< a part of it was made from a description of machines
};

/// The text of a host list that was made from a description of machines, and remarks for the user.
struct Description {
  std::string list;
  std::vector<std::string> notes = {};
  bool has_names = false;  ///< it gives names or addresses without the machines that have them
};

/// Turns a text that is not a host list, such as gcloud's output about a TPU, into one; none if it is a
/// list. Throws UsageError that begins with `where`.
using ReadDescription =
    std::function<std::optional<Description>(const std::string& text, std::string_view where)>;

/// Reads the values of a repeatable option (`where`, such as `-H`), in the form of "Host lists" in
/// docs/configuration.md; `^FILE` is a file with a list, the value `-` standard input. Throws UsageError that
/// names the place, the bad part and what was expected.
HostList parse_host_list(const std::vector<std::string>& values, std::string_view where, const Probe& probe,
                         const ReadDescription& read_description = {});

/// Reads the values of `-x`, where a number is a worker. Throws UsageError.
std::vector<Host> parse_exclusions(const std::vector<std::string>& values, std::string_view where,
                                   const Probe& probe);

/// Reads a list of the same form from `text`, found at `path` (a file, or a name for messages). Throws
/// UsageError that begins `path:line: `.
HostList parse_hosts_file(const std::string& text, const std::string& path, const Probe& probe,
                          const ReadDescription& read_description = {});

/// Reads the hosts file at `path`. Throws UsageError if it is missing, unreadable or wrong.
HostList read_hosts_file(const std::string& path, const Probe& probe,
                         const ReadDescription& read_description = {});

/// Reads names and addresses separated by commas, with Slurm's ranges: `nid[00001,00011-00012],host2`. Throws
/// UsageError.
std::vector<Host> parse_plain_list(std::string_view list, std::string_view where);

/// Refuses `-H good.txt` if a file has that name. Throws UsageError.
void check_is_not_a_file(const std::string& list);

/// Reads a worker number in a list of `count` hosts: 0 to count - 1. Throws UsageError that begins with
/// `where`.
std::size_t parse_worker_number(std::string_view text, std::size_t count, std::string_view where);

}  // namespace podrun::hosts
