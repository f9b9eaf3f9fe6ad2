// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// Where hosts were looked for, and what came of it: `SLURM_JOB_NODELIST`, `not set`.
struct Attempt {
  std::string where;
  std::string result;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// Results that need no explanation; the last one is the beginning of several.
inline constexpr std::string_view kNotSet = "not set";
inline constexpr std::string_view kNoSuchFile = "no such file";
inline constexpr std::string_view kNotAsked = "not asked";

/// `A, B: not set`, `C: 4 hosts`: a text for each result.
std::vector<std::string> to_texts(const std::vector<Attempt>& tried);

/// How this machine takes part in a list.
enum class SelfRule {
  as_listed,              ///< like any host; `-i` adds it in front (an explicit choice)
  as_listed_without_ssh,  ///< the same, but never by ssh (Slurm, SkyPilot)
  by_option,              ///< only with `-i`, and only where it is listed (TPU variables, metadata)
  by_option_or_in_front,  ///< only with `-i`, which adds it in front where it is not listed (a podips.txt of
                          ///< all)
  by_option_as_first,     ///< the same, and where it is not listed the others count from 1 (podips.txt)
};

/// A list of hosts as its source has it: complete and in rank order, numbered from 0.
struct Listing {
  std::string where;  ///< for people
  SelfRule rule = SelfRule::as_listed;
  std::vector<Host> hosts = {};
  std::optional<std::size_t> own_rank = {};  ///< where the source itself tells which of them this machine is
  std::vector<std::string> notes = {};       ///< what the user should know of it
};

/// What the first source that answers has, in the manual's order, and in `tried` all that were asked. Throws
/// UsageError where a source is there and wrong: the next one might mean other hosts.
std::optional<Listing> find_listing(const Probe& probe, std::vector<Attempt>& tried);

/// The first line of a podips.txt that counts from 0 though this machine is not in it.
inline constexpr std::string_view kAllHostsLine = "# podrun: all hosts, the first is rank 0";

/// `~/podips.txt`; nothing without a $HOME.
std::optional<std::string> podips_path(const Probe& probe);

}  // namespace podrun
