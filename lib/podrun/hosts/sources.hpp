// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// A place where hosts were looked for, and the result: `SLURM_JOB_NODELIST`, `not set`.
struct TriedSource {
  std::string where;
  std::string result;

  friend bool operator==(const TriedSource&, const TriedSource&) = default;
};

/// Results that need no explanation; kNotAsked is the beginning of several results.
inline constexpr std::string_view kNotSet = "not set";
inline constexpr std::string_view kNoSuchFile = "no such file";
inline constexpr std::string_view kNotAsked = "not asked";

/// One text for each result: `A, B: not set`, `C: 4 hosts`.
std::vector<std::string> to_texts(const std::vector<TriedSource>& tried);

/// How this machine takes part in a list from a source.
enum class SelfRule {
  as_listed,              ///< like any host; `-i` adds it in front (an explicit choice)
  as_listed_without_ssh,  ///< like as_listed, but never by ssh (Slurm, SkyPilot)
  by_option,              ///< only with `-i`, and only where it is listed (TPU variables, metadata)
  by_option_or_in_front,  ///< only with `-i`, which adds it in front if it is not listed (a podips.txt of
                          ///< all)
  /// Like by_option_or_in_front, but without `-i` an unlisted machine makes the others count from 1
  /// (podips.txt).
  by_option_as_first,
};

/// The complete list of hosts of one source, in worker order and numbered from 0.
struct HostListing {
  std::string where;  ///< for messages
  SelfRule rule = SelfRule::as_listed;
  std::vector<Host> hosts = {};
  std::optional<std::size_t> own_worker = {};  ///< set if the source says which host is this machine
  std::vector<std::string> notes = {};         ///< remarks on the list for the user
  bool has_description = false;                ///< made from a description of machines
};

/// The list of one source, as it was read there.
HostListing listing_of(std::string where, HostList list, SelfRule rule = SelfRule::as_listed);

/// The list of the first source that answers, in the manual's order; `tried` gets every source that was
/// asked. Throws UsageError if a source exists but is wrong, because the next one might mean other hosts.
std::optional<HostListing> find_listing(const Probe& probe, std::vector<TriedSource>& tried);

/// The first line of a podips.txt that counts from 0 although this machine is not in it.
inline constexpr std::string_view kAllHostsLine = "# podrun: all hosts, the first is worker 0";

/// `~/podips.txt`; none without a $HOME.
std::optional<std::string> podips_path(const Probe& probe);

}  // namespace podrun::hosts
