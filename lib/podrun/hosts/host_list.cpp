// SPDX-License-Identifier: Apache-2.0
// Reads host lists: `-H` with commas and files, podips.txt, and files with one host a line.
#include "podrun/hosts/host_list.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::hosts {
namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::string_view kBlank = " \t";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kAlphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::size_t kMaxNameSize = 253;  // of a name in DNS

/// Whether it has only letters, digits and `others`, a sensible length, and cannot be read as an option.
bool is_plain(std::string_view text, std::string_view others) {
  const auto allowed = [others](char c) { return kAlphanumeric.find(c) != npos || others.find(c) != npos; };
  return !text.empty() && text.size() <= kMaxNameSize && text.front() != '-' && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), allowed);
}

std::string_view trim(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(kBlank), text.size());
  return text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

/// The end of the entry that begins at `start`: a comma outside brackets.
std::size_t end_of_entry(std::string_view list, std::size_t start) {
  bool in_brackets = false;
  for (std::size_t i = start; i < list.size(); ++i) {
    if (list[i] == ',' && !in_brackets) return i;
    if (list[i] == '[' || list[i] == ']') in_brackets = list[i] == '[';
  }
  return list.size();
}

/// The list with a comma for each `;`, blanks or newlines between hosts. A file's name may have blanks.
std::string with_commas(std::string_view list) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::string result;
  list.remove_prefix(std::min(list.find_first_not_of(kBlanks), list.size()));
  list.remove_suffix(list.size() - (list.find_last_not_of(kBlanks) + 1));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool is_blank = kBlanks.find(list[i]) != kBlanks.npos;
    const bool in_file_name =
        is_blank && list[i] == ' ' && result.substr(result.rfind(',') + 1).starts_with('^');
    if (!is_blank || in_file_name) {
      result += list[i] == ';' ? ',' : list[i];
      continue;
    }
    const std::size_t next = list.find_first_not_of(kBlanks, i);
    const bool separates = !result.ends_with(',') && list[next] != ',' && list[next] != ';';
    if (separates) result += ',';
    i = next - 1;
  }
  return result;
}

std::uint16_t parse_port(std::string_view text, const HostEntry& entry) {
  const std::optional<std::uint16_t> port = to_port(text);
  if (!port) entry.refuse("port", text, "1-65535");
  return *port;
}

std::string parse_user(std::string_view text, const HostEntry& entry) {
  if (!is_plain(text, "._-+@\\")) entry.refuse("user", text, "letters, digits and \"._-+@\\\"");
  return std::string(text);
}

std::string parse_name(std::string_view text, const HostEntry& entry) {
  if (!is_plain(text, "._-"))
    entry.refuse("host", text, "a name of letters, digits and \"._-\", or an address");
  return std::string(text);
}

std::string parse_ipv6(std::string_view text, const HostEntry& entry) {
  const std::size_t percent = text.find('%');
  in6_addr binary;
  const std::string address(text.substr(0, percent));
  const bool is_address = address.find('\0') == npos && inet_pton(AF_INET6, address.c_str(), &binary) == 1;
  if (!is_address || (percent != npos && !is_plain(text.substr(percent + 1), "._-"))) {
    entry.refuse("address", text, "an IPv6 address, in brackets when a port follows");
  }
  return std::string(text);
}

/// Reads `[2001:db8::1]:22`, `2001:db8::1`, `name:22` or `name` into the name and port of `host`.
void parse_name_and_port(std::string_view text, const HostEntry& entry, Host& host) {
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');  // HostPattern has checked that there is one
    const std::string_view after = text.substr(close + 1);
    host.name = parse_ipv6(text.substr(1, close - 1), entry);
    if (!after.empty() && after.front() != ':') entry.refuse("port", after, "\":\" and 1-65535");
    if (!after.empty()) host.port = parse_port(after.substr(1), entry);
    return;
  }
  const std::size_t colon = text.find(':');
  if (colon != npos && text.find(':', colon + 1) != npos) {
    host.name = parse_ipv6(text, entry);
    return;
  }
  host.name = parse_name(text.substr(0, colon), entry);
  if (colon != npos) host.port = parse_port(text.substr(colon + 1), entry);
}

/// Whether it is `local` or a name such as `local2`.
bool names_this_machine(std::string_view name) {
  return name.starts_with("local") && name.find_first_not_of("0123456789", 5) == npos;
}

/// Reads one host, without ranges.
Host parse_host(std::string_view text, const HostEntry& entry) {
  Host host;
  host.source = entry.where;
  if (const std::size_t at = text.rfind('@'); at != npos) {
    host.user = parse_user(text.substr(0, at), entry);
    text.remove_prefix(at + 1);
  }
  parse_name_and_port(text, entry, host);
  if (!names_this_machine(host.name)) return host;
  if (!host.user.empty() || host.port != 0) {
    throw UsageError(
        fmt::format("{}: {:?} has a user or a port (\"{}\" is this machine without ssh; "
                    "for ssh to it: localhost)",
                    entry.where, entry.text, host.name));
  }
  host.kind = HostKind::local;
  return host;
}

void refuse_control_characters(std::string_view text, std::string_view where, std::string_view allowed = {}) {
  const auto found = std::find_if(text.begin(), text.end(), [allowed](char c) {
    return is_control(c) && allowed.find(c) == allowed.npos;
  });
  if (found == text.end()) return;
  const std::string character(1, *found);
  throw UsageError(fmt::format("{}: control character {:?} (expected plain text)", where, character));
}

/// Appends lists and files, up to kMaxHosts hosts in all.
class HostListBuilder {
 public:
  void add_list(std::string_view list, std::string_view where, const Probe& probe) {
    refuse_control_characters(list, where, "\t\r\n");
    const std::string commas = with_commas(list);
    for (std::size_t start = 0; start <= commas.size();) {
      const std::size_t end = end_of_entry(commas, start);
      const std::string_view text = trim(std::string_view(commas).substr(start, end - start));
      if (text.empty()) HostEntry{list, where}.refuse("host", text, "one before and after each comma");
      if (text.starts_with('^')) {
        add_file(read(std::string(text.substr(1)), probe), text.substr(1));
      } else {
        add_entry({text, where});
      }
      start = end + 1;
    }
  }

  void add_file(std::string_view text, std::string_view path) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    for (std::size_t line = 1; !text.empty(); ++line) {
      add_line(take_part(text, '\n'), fmt::format("{}:{}", path, line));
    }
  }

  static std::string read(const std::string& path, const Probe& probe) {
    std::optional<std::string> text = probe.read_file(path);
    if (!text)
      throw UsageError(fmt::format("cannot read {:?}: no such file (expected one host a line)", path));
    return *std::move(text);
  }

  std::vector<Host> take() { return std::move(hosts_); }

 private:
  void add_line(std::string_view line, const std::string& where) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string plain(line);
    std::replace(plain.begin(), plain.end(), '\t', ' ');
    refuse_control_characters(plain, where);
    std::string_view rest = trim(std::string_view(plain).substr(0, comment_start(plain)));
    if (rest.empty()) return;
    const std::string_view text = take_part(rest, ' ');
    add_entry({text, where});
    while (!(rest = trim(rest)).empty()) {
      const std::string_view word = take_part(rest, ' ');
      if (word.find('=') == npos || word.front() == '=') {
        HostEntry{plain, where}.refuse("word", word, "one host a line, then only words such as slots=8");
      }
    }
  }
  static std::size_t comment_start(std::string_view line) {
    std::size_t mark = line.find('#');
    while (mark != npos && mark != 0 && line[mark - 1] != ' ') mark = line.find('#', mark + 1);
    return mark;
  }
  void add_entry(const HostEntry& entry) {
    const HostPattern pattern(entry);
    if (pattern.size() > kMaxHosts - hosts_.size()) entry.refuse_more();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      hosts_.push_back(parse_host(pattern.at(i), entry));
      hosts_.back().worker = hosts_.size() - 1;
    }
  }

  std::vector<Host> hosts_;
};

}  // namespace

std::vector<Host> parse_host_list(const std::vector<std::string>& values, std::string_view where,
                                  const Probe& probe, const ReadDescription& read_description) {
  HostListBuilder builder;
  for (const std::string& value : values) {
    if (value == "-") {
      const std::string text = probe.read_standard_input();
      constexpr std::string_view kInput = "standard input";
      const std::optional<std::string> described =
          read_description ? read_description(text, kInput) : std::nullopt;
      builder.add_file(described.value_or(text), kInput);
    } else {
      builder.add_list(value, where, probe);
    }
  }
  return builder.take();
}

void check_is_not_a_file(const std::string& list) {
  constexpr std::array<std::string_view, 7> kListFiles = {".txt",  ".hosts", ".list", ".lst",
                                                          ".conf", ".cfg",   ".ini"};
  const std::string extension = std::filesystem::path(list).extension();
  const bool may_be_file = list.find('/') != npos ||
                           std::find(kListFiles.begin(), kListFiles.end(), extension) != kListFiles.end();
  if (!may_be_file || !is_file(list)) return;
  throw UsageError(
      fmt::format("\"{}\" is a file (to read the hosts from it: --hostfile {})", list, shell_quote(list)));
}

std::vector<Host> parse_hosts_file(std::string_view text, std::string_view path) {
  HostListBuilder builder;
  builder.add_file(text, path);
  return builder.take();
}

Host parse_plain_host(std::string_view text, std::string_view where) {
  const HostEntry entry{text, where};
  Host host;
  host.name = text.find(':') == npos ? parse_name(text, entry) : parse_ipv6(text, entry);
  host.source = where;
  return host;
}

std::vector<Host> parse_plain_list(std::string_view list, std::string_view where) {
  std::vector<Host> hosts;
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t end = end_of_entry(list, start);
    const HostEntry entry{trim(list.substr(start, end - start)), where};
    const HostPattern pattern(entry, Widths::first_counts);
    if (pattern.size() > kMaxHosts - hosts.size()) entry.refuse_more();
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      hosts.push_back(parse_plain_host(pattern.at(i), where));
      hosts.back().worker = hosts.size() - 1;
    }
    start = end + 1;
  }
  return hosts;
}

std::string to_text(const Host& host) {
  const bool is_ipv6 = host.name.find(':') != std::string::npos;
  std::string text = host.user.empty() ? "" : host.user + "@";
  text += is_ipv6 && host.port != 0 ? fmt::format("[{}]", host.name) : host.name;
  return host.port == 0 ? text : fmt::format("{}:{}", text, host.port);
}

std::vector<Host> read_hosts_file(const std::string& path, const Probe& probe) {
  return parse_hosts_file(HostListBuilder::read(path, probe), path);
}

std::size_t parse_worker_number(std::string_view text, std::size_t count, std::string_view where) {
  const std::optional<std::size_t> number = to_number(text);
  if (number && *number < count) return *number;
  throw UsageError(fmt::format("{}: {:?} does not fit its list of {} (expected {})", where, text,
                               count_hosts(count), count == 1 ? "0" : fmt::format("0-{}", count - 1)));
}

std::string host_file_name(const Host& host) {
  std::string name = fmt::format("{}-{}", host.worker, host.name);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

}  // namespace podrun::hosts
