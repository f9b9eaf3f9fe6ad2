// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::hosts {

/// Applies a word about the hosts before it on its line, such as `slots=8` (Open MPI, DeepSpeed), `port=2222`
/// or `ansible_host=10.0.0.2` (Ansible). Throws UsageError for any other word.
void apply_word(std::string_view word, std::span<Host> hosts, const HostEntry& line);

/// Applies a count of processes without a name, as in LSF's `host1 4`. Throws UsageError if it is not one.
void apply_count(std::string_view count, std::span<Host> hosts, const HostEntry& line);

/// ` slots=8 ansible_host=10.0.0.2`: the words that give a host its slots and address; empty for one without.
std::string words_of(const Host& host);

}  // namespace podrun::hosts
