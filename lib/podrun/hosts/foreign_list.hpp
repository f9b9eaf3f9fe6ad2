// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace podrun::hosts {

/// How to get a list from an inventory of Ansible.
inline constexpr const char* kInventoryAdvice = "a list: ansible all -i FILE --list-hosts | tail -n +2";

/// Refuses a text that has hosts in another form than a list: a table of kubectl or sinfo, an inventory of
/// Ansible, an ssh_config. Throws UsageError, `path:line: ` and how to get a list from the same program.
void refuse_foreign_list(std::string_view text, std::string_view path);

/// Whether a line is a heading, or a rule below it, that gcloud, aws, sacct or ansible write above a column
/// of hosts: `IP_ADDRESS`, `hosts (2):`, `-----`.
bool is_heading(std::string_view line);

/// Whether a word stands for a missing value: `None` of aws, `null` of jq, `<none>` of kubectl.
bool is_missing(std::string_view word);

}  // namespace podrun::hosts
