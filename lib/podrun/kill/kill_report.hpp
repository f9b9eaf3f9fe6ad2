// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/kill/kill_choice.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/run/outcome.hpp"

// The words and the JSON of `podrun kill`. Pure; text of hosts is escaped.
namespace podrun::kill {

/// A host that has answered.
struct ListedHost {
  std::size_t host = 0;  ///< index
  devices::DeviceHolders list;
  std::vector<Choice> choices;

  bool has_victims() const;
};

/// Lists the processes that have accelerators open: first those to be stopped, then those that stay, and why.
/// Equal processes of several hosts share a line.
std::vector<std::string> describe_choices(const std::vector<hosts::Host>& hosts,
                                          const std::vector<ListedHost>& listed, std::string_view separator);

/// True if a process other than a service has an accelerator open.
bool is_busy(const ListedHost& listed);

/// `freed 30/32 hosts · needed KILL: [3] pid 77 (python3) · busy: [7] pid 1234 (D state: reboot needed)`
/// Empty if no host has answered and none had a process to stop.
std::string describe_result(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& before,
                            const std::vector<ListedHost>& after, std::string_view separator);

/// `outcomes`: of each host, in the last run that it took part in. `after`: empty with --dry-run. Schema:
/// docs/kill-schema.json
std::string kill_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                      const std::vector<run::HostOutcome>& outcomes, const std::vector<ListedHost>& before,
                      const std::vector<ListedHost>& after);

}  // namespace podrun::kill
