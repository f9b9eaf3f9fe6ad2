// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun {

/// Turns a text that is no list of hosts, such as what gcloud prints of a TPU, into a hosts file; nothing
/// where it is a list. Throws UsageError.
using ReadDescription = std::function<std::optional<std::string>(const std::string& text)>;

/// The hosts that the values of a repeatable option (`where`, such as `-H`) name, in the order written:
/// `tpu-[0-15,20],user@host:port,[2001:db8::1]:22,^FILE,local[0-3]`; a value `-` is standard input, which
/// may also be what `read_description` reads.
/// Throws UsageError that names the place, the bad part and what was expected.
std::vector<Host> parse_host_list(const std::vector<std::string>& values, std::string_view where,
                                  const Probe& probe, const ReadDescription& read_description = {});

/// One host a line, ranges allowed; comments, blank lines and `host slots=8` too. `path` is for people.
/// Throws UsageError that begins `path:line: `.
std::vector<Host> parse_hosts_file(std::string_view text, std::string_view path);

/// A name or an address alone, as programs write it: no user, port, range or `local`. Throws UsageError.
Host parse_plain_host(std::string_view text, std::string_view where);

/// Such hosts with commas between, and with Slurm's ranges: `nid[00001,00011-00012],host2`. Throws
/// UsageError.
std::vector<Host> parse_plain_list(std::string_view list, std::string_view where);

/// `user@name:port`, which parse_host_list() reads as this host again.
std::string to_text(const Host& host);

/// The file at `path`. Throws UsageError when it is missing, unreadable or wrong.
std::vector<Host> read_hosts_file(const std::string& path, const Probe& probe);

}  // namespace podrun
