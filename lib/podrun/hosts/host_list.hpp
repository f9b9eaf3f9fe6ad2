// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// The hosts that the values of a repeatable option (`where`, such as `-H`) name, in the order written:
/// `tpu-[0-15,20],user@host:port,[2001:db8::1]:22,^FILE,local[0-3]`; a value `-` is standard input.
/// Throws UsageError that names the place, the bad part and what was expected.
std::vector<Host> parse_host_list(const std::vector<std::string>& values, std::string_view where,
                                  const Probe& probe);

/// One host a line, ranges allowed; comments, blank lines and `host slots=8` too. `path` is for people.
/// Throws UsageError that begins `path:line: `.
std::vector<Host> parse_hosts_file(std::string_view text, std::string_view path);

/// The file at `path`. Throws UsageError when it is missing, unreadable or wrong.
std::vector<Host> read_hosts_file(const std::string& path, const Probe& probe);

}  // namespace podrun
