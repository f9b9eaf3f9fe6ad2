// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/check/check_reply.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/run/outcome.hpp"

// Compares the facts of all hosts (where they agree, where they differ, and what is wrong), and writes the
// texts that podrun check prints. Pure.
namespace podrun::check {

inline constexpr std::uint64_t kGib = 1ULL << 30;

inline double to_seconds(std::chrono::microseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// A host's clock against ours.
struct ClockOffset {
  std::chrono::microseconds ahead{};
  std::chrono::microseconds uncertainty{};  ///< in both directions
};

/// As in NTP: the host read its clock at some time between its start and the receipt, which are
/// `round_trip` apart. None if the host did not send its time. `received`: by our clock, since the epoch.
std::optional<ClockOffset> clock_offset(const HostFacts& facts, std::chrono::microseconds received,
                                        std::chrono::microseconds round_trip);

/// The result for one host of the run.
struct CheckedHost {
  run::HostOutcome outcome;
  HostFacts facts = {};
  std::optional<ClockOffset> clock = std::nullopt;
};

/// The choices of the user.
struct CheckRequest {
  std::string python;     ///< empty: not given
  std::string directory;  ///< the git checkout to look at; empty: not given
};

/// Hosts, by their places, with the same text.
struct CheckGroup {
  std::string text;  ///< `jax 0.4.35`, `no jax`
  std::vector<std::size_t> hosts;
};
/// One thing in which the hosts that have answered should agree.
struct CheckItem {
  std::string name;                     ///< `jax`
  std::size_t topic = 0;                ///< items of one topic stand on one line
  std::vector<CheckGroup> groups = {};  ///< the largest first
  bool agreed() const { return groups.size() == 1; }
};
/// A value that always differs: free memory, the clock.
struct CheckRange {
  std::string text;                  ///< `memory 377-391 GiB available`
  std::optional<std::size_t> least;  ///< the host that has much less than others
};
/// A reason why hosts cannot be used as they are.
struct CheckProblem {
  std::string what;  ///< `unreachable: connecting: connection refused`, `disk /`
  std::vector<std::size_t> hosts;
  std::vector<std::string> details;  ///< `0.3 of 97 GiB free`: of each host, or none at all
};

struct CheckReport {
  std::size_t answered = 0;  ///< hosts
  std::vector<CheckItem> items;
  std::vector<CheckRange> ranges;
  std::vector<CheckProblem> problems;
  std::vector<std::size_t> busy = {};          ///< hosts with accelerators that `podrun kill` may free
  std::vector<std::size_t> changed_keys = {};  ///< hosts with another host key than known
  std::vector<std::string> notes;              ///< worth knowing, but not problems

  /// Every host is usable, and they agree.
  bool is_well() const;
  /// The hosts with a problem, each once.
  std::vector<std::size_t> unusable() const;
};

/// `called`: begins a command for the same hosts, in what it says.
CheckReport compare_hosts(const std::vector<CheckedHost>& hosts, const CheckRequest& request,
                          std::string_view called = "podrun");

/// The items of compare_hosts(), from hosts whose facts are complete: kernel, memory, accelerators, limits,
/// versions, commit. An item that no host has is left out.
std::vector<CheckItem> compare_items(const std::vector<CheckedHost>& hosts);

/// `512 MiB`, `3.2 GiB`, `391 GiB`.
std::string format_size(std::uint64_t bytes);
/// `bytes` in the unit that format_size() has for `other`, and without it: `0.3`.
std::string format_size_like(std::uint64_t bytes, std::uint64_t other);

/// Lines for people, without newlines: what the hosts agree on, which differ, the problems, and the verdict
/// last. `called`: as for compare_hosts().
std::vector<std::string> describe_check(const std::vector<hosts::Host>& hosts, const CheckReport& report,
                                        std::string_view separator, std::string_view called = "podrun");

/// `--json`: one object on one line. Schema: docs/check-schema.json
std::string check_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                       const std::vector<CheckedHost>& checked, const CheckReport& report);

}  // namespace podrun::check
