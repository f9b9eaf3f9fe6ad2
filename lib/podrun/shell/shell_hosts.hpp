// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/shell/line_state.hpp"

namespace podrun::shell {

struct ShellHost {
  hosts::Host host;
  bool is_connected = false;
  std::string why_not = {};                       ///< the failure
  std::optional<KeptState> fresh = std::nullopt;  ///< where a session begins there
  std::optional<KeptState> now = std::nullopt;    ///< after the line before
};

/// How the line before ended, for the prompt.
struct LineEnd {
  std::vector<hosts::Host> hosts = {};
  std::vector<run::HostOutcome> outcomes = {};
};

/// `podrun [0-7] ~/app> `, `podrun [0-6] ~ · [2] exit 1 · not connected [7]> `: the hosts of the next line,
/// their directory, the failures of the line before, and the hosts that are not connected any more. At most
/// about 80 columns, mostly far fewer. Pure.
std::string make_prompt(const std::vector<std::size_t>& workers, std::string_view directory,
                        const LineEnd& before, const std::vector<std::size_t>& lost,
                        std::string_view separator);

/// The directory of these hosts for the prompt, with `~` for each one's home and the end of a long path; `3
/// directories` if it differs. Pure.
std::string name_directory(const std::vector<const KeptState*>& states);

/// The hosts of one `podrun shell`, and those that the user has chosen for the next lines.
class ShellHosts {
 public:
  explicit ShellHosts(const std::vector<hosts::Host>& hosts);

  std::size_t size() const { return hosts_.size(); }
  ShellHost& operator[](std::size_t index) { return hosts_[index]; }
  const ShellHost& operator[](std::size_t index) const { return hosts_[index]; }

  /// The indexes of the hosts of the next line: chosen and connected.
  std::vector<std::size_t> active() const;
  /// The indexes of the hosts that are not connected.
  std::vector<std::size_t> not_connected() const;

  /// `:workers SET` chooses hosts. Throws UsageError, and leaves the choice as it is.
  void select(const std::string& set);
  /// The lines of `:hosts`.
  std::vector<std::string> describe() const;
  /// `before`: the line before.
  std::string prompt(const LineEnd& before, std::string_view separator) const;

 private:
  std::vector<const KeptState*> states_of(const std::vector<std::size_t>& indexes) const;
  std::vector<std::size_t> workers_of(const std::vector<std::size_t>& indexes) const;

  std::vector<ShellHost> hosts_;
  std::set<std::size_t> selected_;  ///< worker numbers
};

}  // namespace podrun::shell
