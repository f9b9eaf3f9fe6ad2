// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/hosts/probe.hpp"

namespace podrun::hosts {

/// Turns a text that is not a list of hosts, such as gcloud's output about a TPU, into a hosts file; nothing
/// if it is a list. Throws UsageError that begins with `where`.
using ReadDescription =
    std::function<std::optional<std::string>(const std::string& text, std::string_view where)>;

/// The hosts in the values of a repeatable option (`where`, such as `-H`), in the order written:
/// `tpu-[0-15,20],user@host:port,[2001:db8::1]:22,^FILE,local[0-3]`. The value `-` is standard input, also in
/// a form that `read_description` reads. Throws UsageError that names the place, the bad part and what was
/// expected.
std::vector<Host> parse_host_list(const std::vector<std::string>& values, std::string_view where,
                                  const Probe& probe, const ReadDescription& read_description = {});

/// Refuses `-H good.txt` if a file has that name. Throws UsageError.
void check_is_not_a_file(const std::string& list);

/// Reads one host a line, with ranges; also comments, blank lines and `host slots=8`. `path` is for messages.
/// Throws UsageError that begins `path:line: `.
std::vector<Host> parse_hosts_file(std::string_view text, std::string_view path);

/// Reads a name or an address as programs write it: no user, port, range or `local`. Throws UsageError.
Host parse_plain_host(std::string_view text, std::string_view where);

/// Reads names and addresses separated by commas, with Slurm's ranges: `nid[00001,00011-00012],host2`. Throws
/// UsageError.
std::vector<Host> parse_plain_list(std::string_view list, std::string_view where);

/// `user@name:port`, which parse_host_list() reads back.
std::string to_text(const Host& host);

/// Reads the hosts file at `path`. Throws UsageError if it is missing, unreadable or wrong.
std::vector<Host> read_hosts_file(const std::string& path, const Probe& probe);

/// Reads a worker number in a list of `count` hosts: 0 to count - 1. Throws UsageError that begins with
/// `where`.
std::size_t parse_worker_number(std::string_view text, std::size_t count, std::string_view where);

/// `3-tpu-3`, as the name of a file or directory for a host: a single name, even if the host's has slashes.
std::string host_file_name(const Host& host);

}  // namespace podrun::hosts
