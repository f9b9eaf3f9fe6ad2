// SPDX-License-Identifier: Apache-2.0
#include "podrun/hosts/discovery.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/rank_set.hpp"
#include "podrun/hosts/host_list.hpp"

namespace podrun {
namespace {

constexpr std::string_view kPodips = "~/podips.txt";

std::uint16_t port_of(const Host& host) { return host.port == 0 ? kSshPort : host.port; }

/// One spelling for all that mean the same: lower case, no last dot, an address in its shortest form.
std::string canonical_name(std::string name) {
  std::array<unsigned char, sizeof(in6_addr)> binary;
  std::array<char, INET6_ADDRSTRLEN> text;
  if (inet_pton(AF_INET6, name.c_str(), binary.data()) == 1) {
    return inet_ntop(AF_INET6, binary.data(), text.data(), text.size());
  }
  if (name.ends_with('.')) name.pop_back();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

/// `localhost:2201` is some other machine at the end of a tunnel, or a container.
bool is_forwarded_port(const Host& host) {
  const std::string name = canonical_name(host.name);
  return (name == "localhost" || name == "127.0.0.1" || name == "::1") && port_of(host) != kSshPort;
}

/// Recognises the machine that podrun runs on.
class ThisMachine {
 public:
  explicit ThisMachine(const Probe& probe) {
    for (std::string& name : probe.own_names()) names_.insert(canonical_name(std::move(name)));
  }

  bool is(const Host& host) const {
    return host.kind == HostKind::local ||
           (names_.contains(canonical_name(host.name)) && !is_forwarded_port(host));
  }
  bool is_in(const std::vector<Host>& hosts) const {
    return std::any_of(hosts.begin(), hosts.end(), [this](const Host& host) { return is(host); });
  }

  /// The same text and port for every spelling of one host.
  std::pair<std::string, std::uint16_t> key(const Host& host) const {
    const bool by_network = host.kind == HostKind::remote && is(host);
    return {by_network ? "localhost" : canonical_name(host.name), port_of(host)};
  }

 private:
  std::set<std::string> names_;
};

void refuse_repeats(const std::vector<Host>& hosts, const ThisMachine& self) {
  std::map<std::pair<std::string, std::uint16_t>, const Host*> seen;
  for (const Host& host : hosts) {
    const auto [before, is_new] = seen.emplace(self.key(host), &host);
    if (is_new) continue;
    const Host& first = *before->second;
    const std::string as = first.name == host.name ? "" : fmt::format(" as \"{}\"", first.name);
    throw UsageError(fmt::format(
        "{}: host \"{}\" is given twice, first at {}{} (remove one, or allow it with --allow-repeats)",
        host.source, host.name, first.source, as));
  }
}

void number(std::vector<Host>& hosts, std::size_t first) {
  for (Host& host : hosts) host.label = first++;
}

/// This machine by the name it is listed under; no user and no port, since no ssh.
Host this_machine(std::size_t label, std::string name, std::string source) {
  Host host;
  host.label = label;
  host.name = std::move(name);
  host.kind = HostKind::local;
  host.source = std::move(source);
  return host;
}

void put_this_machine_first(std::vector<Host>& hosts) {
  number(hosts, 1);
  hosts.insert(hosts.begin(), this_machine(0, "local", "-i"));
}

/// `-H` or `--hostfile`: all of it takes part as it is listed.
std::vector<Host> chosen_hosts(const HostQuery& query, const Probe& probe) {
  if (!query.lists.empty() && query.hostfile) {
    throw UsageError("-H and --hostfile are both given (choose one; -H ^FILE puts a hosts file into a list)");
  }
  std::vector<Host> hosts =
      query.hostfile ? read_hosts_file(*query.hostfile, probe) : parse_host_list(query.lists, "-H", probe);
  if (hosts.empty()) {
    throw UsageError(fmt::format("{}: no host in it (expected at least one)", query.hostfile.value_or("-H")));
  }
  const ThisMachine self(probe);
  if (query.repeats == Repeats::refuse) refuse_repeats(hosts, self);
  if (query.include_local == IncludeLocal::yes && !self.is_in(hosts)) put_this_machine_first(hosts);
  return hosts;
}

[[noreturn]] void no_list(const HostQuery& query) {
  if (query.include_local == IncludeLocal::yes) {
    throw UsageError(
        fmt::format("-i: no list of hosts to add this machine to, {} does not exist (write one host a "
                    "line to it, or use -H LIST; this machine alone is -H local)",
                    kPodips));
  }
  throw UsageError(
      fmt::format("no hosts: no -H, no --hostfile, and {} does not exist (write one host a line to it, "
                  "or use -H tpu-[0-3] or --hostfile FILE; this machine alone is -H local)",
                  kPodips));
}

/// A found list that names this machine: it takes part only with `-i`, at its place and without ssh.
void settle_this_machine(std::vector<Host>& hosts, const ThisMachine& self, IncludeLocal include) {
  if (include == IncludeLocal::no) {
    std::erase_if(hosts, [&self](const Host& host) { return self.is(host); });
    return;
  }
  for (Host& host : hosts) {
    if (self.is(host)) host = this_machine(host.label, host.name, host.source);
  }
}

/// By the convention of its guide podips.txt holds the *other* hosts: they are 1, 2, … and this machine is 0.
std::vector<Host> podips_hosts(const HostQuery& query, const Probe& probe) {
  const std::optional<std::string> home = probe.env("HOME");
  const std::optional<std::string> text = home ? probe.read_file(*home + "/podips.txt") : std::nullopt;
  if (!text) no_list(query);
  std::vector<Host> hosts = parse_hosts_file(*text, kPodips);
  const ThisMachine self(probe);
  if (query.repeats == Repeats::refuse) refuse_repeats(hosts, self);
  if (self.is_in(hosts)) {
    settle_this_machine(hosts, self, query.include_local);
  } else if (query.include_local == IncludeLocal::yes) {
    put_this_machine_first(hosts);
  } else {
    number(hosts, 1);
  }
  if (hosts.empty()) {
    throw UsageError(
        fmt::format("{}: no other host in it (write one a line, or add this machine with -i)", kPodips));
  }
  return hosts;
}

/// What an entry of `-x` leaves open, it matches.
bool matches(const Host& entry, const Host& host) {
  return (entry.user.empty() || entry.user == host.user) && (entry.port == 0 || entry.port == port_of(host));
}

std::set<std::size_t> all_labels(const std::vector<Host>& hosts) {
  std::set<std::size_t> labels;
  for (const Host& host : hosts) labels.insert(host.label);
  return labels;
}

/// The labels that an entry of `-x` stands for when it is no host's name: `3`, `3-7`.
std::vector<std::size_t> as_labels(const Host& entry, const std::set<std::size_t>& known) {
  if (entry.name.find_first_not_of("0123456789-") != std::string::npos) return {};
  std::vector<std::size_t> labels = parse_ranks(entry.name);
  const bool all_known =
      std::all_of(labels.begin(), labels.end(), [&](std::size_t label) { return known.contains(label); });
  return all_known ? labels : std::vector<std::size_t>();
}

std::set<std::size_t> excluded_labels(const std::vector<Host>& hosts, const std::vector<Host>& exclude) {
  const std::set<std::size_t> known = all_labels(hosts);
  std::multimap<std::string, const Host*> by_name;
  for (const Host& host : hosts) by_name.emplace(canonical_name(host.name), &host);
  std::set<std::size_t> labels;
  for (const Host& entry : exclude) {
    bool found = false;
    const auto [begin, end] = by_name.equal_range(canonical_name(entry.name));
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (!matches(entry, *candidate->second)) continue;
      labels.insert(candidate->second->label);
      found = true;
    }
    if (found) continue;
    const std::vector<std::size_t> by_number = as_labels(entry, known);
    if (by_number.empty()) {
      throw UsageError(
          fmt::format("{}: \"{}\" matches no host (--dry-run shows them)", entry.source, entry.name));
    }
    labels.insert(by_number.begin(), by_number.end());
  }
  return labels;
}

std::vector<std::size_t> parse_ranks_option(const std::string& text) try {
  return parse_ranks(text);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("--ranks: {}", error.what()));
}

std::set<std::size_t> selected_labels(const std::vector<Host>& hosts,
                                      const std::optional<std::string>& ranks) {
  const std::set<std::size_t> labels = all_labels(hosts);
  if (!ranks || *ranks == "all") return labels;
  std::set<std::size_t> selected;
  for (const std::size_t rank : parse_ranks_option(*ranks)) {
    if (!labels.contains(rank)) {
      throw UsageError(fmt::format("--ranks: no host has rank \"{}\" (there are {})", rank,
                                   fold_ranks({labels.begin(), labels.end()})));
    }
    selected.insert(rank);
  }
  return selected;
}

std::ptrdiff_t uses_of_standard_input(const HostQuery& query) {
  return std::count(query.lists.begin(), query.lists.end(), "-") +
         std::count(query.exclude.begin(), query.exclude.end(), "-");
}

}  // namespace

bool reads_standard_input(const HostQuery& query) { return uses_of_standard_input(query) > 0; }

std::vector<Host> discover(const HostQuery& query, const Probe& probe) {
  if (uses_of_standard_input(query) > 1)
    throw UsageError("standard input is asked for twice (give one \"-\")");
  const bool chosen = !query.lists.empty() || query.hostfile;
  std::vector<Host> hosts = chosen ? chosen_hosts(query, probe) : podips_hosts(query, probe);
  const std::set<std::size_t> excluded = excluded_labels(hosts, parse_host_list(query.exclude, "-x", probe));
  const std::set<std::size_t> selected = selected_labels(hosts, query.ranks);
  std::erase_if(hosts, [&](const Host& host) {
    return excluded.contains(host.label) || !selected.contains(host.label);
  });
  if (hosts.empty()) throw UsageError("no host is left (-x and --ranks leave out all of them)");
  return hosts;
}

}  // namespace podrun
