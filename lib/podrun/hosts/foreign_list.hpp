// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "podrun/hosts/host_pattern.hpp"

namespace podrun::hosts {

/// How to get a list from an inventory of Ansible.
inline constexpr const char* kInventoryAdvice = "a list: ansible all -i FILE --list-hosts | tail -n +2";

/// The lists of addresses in gcloud's descriptions of TPUs and instances.
inline constexpr std::array<std::string_view, 2> kNetworkLists = {"networkEndpoints", "networkInterfaces"};

/// Whether a line is of gcloud's flattened format: `networkEndpoints[0].ipAddress: 10.0.0.2`.
bool is_flattened(std::string_view line);

/// Refuses a text that has hosts in another form than a list: a table of kubectl or sinfo, an inventory of
/// Ansible, an ssh_config. Throws UsageError, `path:line: ` and how to get a list from the same program.
void refuse_foreign_list(std::string_view text, std::string_view path);

/// Messages about a file or another text name the line; those about an option's value do not.
enum class LinesOf { file, value };

/// Refuses a text that begins with a message of a program, such as `No resources found`, or has gcloud's
/// reason for a failure. Throws UsageError, `where: ` or `where:line: ` and what to do.
void refuse_messages(std::string_view text, std::string_view where, LinesOf kind);

/// Refuses a word that programs write beside or in place of a host, such as `Running`, `1/1` or `ns/NAME`.
/// Throws UsageError.
void refuse_cell(std::string_view word, const HostEntry& line);

/// Refuses the name of a thing that has hosts but is none: `node/NAME`, `job.batch/NAME`,
/// `projects/…/nodes/NAME`. Throws UsageError and how to get its hosts.
void refuse_resource(std::string_view name, const HostEntry& entry);

/// Whether the first line of a text is a heading, or a rule below it, that gcloud, kubectl, aws, sacct or
/// ansible write above a column of hosts: `IP_ADDRESS`, `network_ip`, `hosts (2):`, `-----`. `below`: the
/// lines after it.
bool is_heading(std::string_view line, std::string_view below);

/// Whether a word stands for a missing value: `None` of aws, `null` of jq, `<none>` of kubectl.
bool is_missing(std::string_view word);

}  // namespace podrun::hosts
