// SPDX-License-Identifier: Apache-2.0
// Decides which hosts a run has: the list in the options or of the first source that answers, with this
// machine (`-i`), without excluded hosts (`-x`), and only the chosen workers (`--workers`).
#include "podrun/hosts/discovery.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include <fmt/format.h>

#include "podrun/base/expect.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/remembered.hpp"
#include "podrun/hosts/this_machine.hpp"
#include "podrun/hosts/tpu_metadata.hpp"

namespace podrun::hosts {
namespace {

void refuse_repeats(const std::vector<Host>& hosts, const ThisMachine& self) {
  std::map<std::pair<std::string, std::uint16_t>, const Host*> seen;
  for (const Host& host : hosts) {
    const auto [before, is_new] = seen.emplace(self.key(host), &host);
    if (is_new) continue;
    const Host& first = *before->second;
    const std::string as = first.name == host.name ? "" : fmt::format(" as \"{}\"", first.name);
    throw UsageError(
        fmt::format("{}: host \"{}\" is given twice, first at {}{} (remove one; several processes of a host "
                    "are slots=N; or --allow-repeats)",
                    host.source, host.name, first.source, as));
  }
}

void number(std::vector<Host>& hosts, std::size_t first) {
  for (Host& host : hosts) host.worker = first++;
}

/// This machine under its name in the list; it has no user and port because ssh is not used.
Host this_machine(std::size_t worker, std::string name, std::string source) {
  Host host;
  host.worker = worker;
  host.name = std::move(name);
  host.kind = HostKind::local;
  host.source = std::move(source);
  return host;
}

void put_this_machine_first(std::vector<Host>& hosts) {
  number(hosts, 1);
  hosts.insert(hosts.begin(), this_machine(0, "local", "-i"));
}

/// Names the pods that `kubectl get pods -o name` lists, `pod/train-0`, as kubectl exec does.
void name_pods(std::vector<Host>& hosts, bool by_via) {
  constexpr std::string_view kPrefix = "pod/";
  for (Host& host : hosts) {
    if (!host.name.starts_with(kPrefix)) continue;
    if (!by_via) {
      throw UsageError(
          fmt::format("{}: {:?} is a pod of Kubernetes, which ssh cannot reach (give --via 'kubectl exec "
                      "-i {{host}} --', or its address: kubectl get pods -o "
                      "jsonpath='{{.items[*].status.podIP}}')",
                      host.source, host.name));
    }
    host.name.erase(0, kPrefix.size());
  }
}

/// `-H 0-3` looks up worker numbers. A transport of `--via` may know containers by numbers.
void refuse_numbers(const std::vector<Host>& hosts, bool by_via) {
  const auto number = std::ranges::find_if(hosts, is_bare_number);
  if (by_via || number == hosts.end()) return;
  throw UsageError(
      fmt::format("{}: bad host {:?} (expected a name or an address, not a number; worker "
                  "numbers are chosen by --workers)",
                  number->source, number->name));
}

bool is_chosen(const HostQuery& query) { return !query.lists.empty() || query.hostfile || query.command; }

/// The list that the user's command prints, or a cloud's description of the hosts.
HostListing ask_command(const HostQuery& query, const Probe& probe) {
  constexpr const char* kWhere = "--hosts-command";
  HostList list =
      parse_hosts_file(query.read_command(*query.command, probe), kWhere, probe, query.read_description);
  if (list.hosts.empty())
    throw UsageError(fmt::format("{}: it printed no host ({})", kWhere, *query.command));
  return listing_of(kWhere, std::move(list));
}

/// The list from `-H`, `--hostfile` or `--hosts-command`.
HostListing chosen(const HostQuery& query, const Probe& probe) {
  if (!query.lists.empty() && query.hostfile) {
    throw UsageError("-H and --hostfile are both given (choose one; -H ^FILE puts a hosts file into a list)");
  }
  if (query.command) return ask_command(query, probe);
  const std::string& from = query.hostfile ? *query.hostfile : query.lists_from;
  HostList list = query.hostfile ? read_hosts_file(*query.hostfile, probe, query.read_description)
                                 : parse_host_list(query.lists, from, probe, query.read_description);
  const bool read_input = std::find(query.lists.begin(), query.lists.end(), "-") != query.lists.end();
  if (read_input && list.hosts.empty())
    throw UsageError(from + ": standard input has no host (did the command before \"|\" fail?)");
  return listing_of(from, std::move(list));
}

/// Whether the source is missing, which needs no explanation.
bool is_absent(const TriedSource& attempt) {
  return attempt.result == kNotSet || attempt.result == kNoSuchFile || attempt.result.starts_with(kNotAsked);
}

/// `looked in $A and 8 other places, listed by podrun hosts; B: set, but empty`
std::string describe_search(const std::vector<TriedSource>& tried, std::string_view who_lists_them) {
  std::vector<TriedSource> telling = tried;
  if (tried.size() > 1) std::erase_if(telling, is_absent);
  std::vector<std::string> texts = to_texts(telling);
  const std::size_t absent = tried.size() - telling.size();
  if (absent > 0) {
    const TriedSource& first = *std::find_if(tried.begin(), tried.end(), is_absent);
    const std::string others =
        absent > 1 ? fmt::format(" and {} other places{}", absent - 1, who_lists_them) : "";
    texts.insert(texts.begin(),
                 fmt::format("looked in {}{}{}", first.result == kNotSet ? "$" : "", first.where, others));
  }
  return join(texts, "; ");
}

[[noreturn]] void no_list(const HostQuery& query, const std::vector<TriedSource>& tried) {
  const std::string_view what =
      query.include_local == IncludeLocal::yes ? "-i: no list of hosts to add this machine to" : "no hosts";
  const auto message = [&](std::string_view who_lists_them) {
    return fmt::format(
        "{}: name them with -H tpu-[0-3], --hostfile FILE or one a line in ~/podips.txt; "
        "this machine alone is -H local ({})",
        what, describe_search(tried, who_lists_them));
  };
  throw NoHosts(message(", listed by podrun hosts"), message(""), tried);
}

/// Numbers the complete list, and puts this machine in front if `-i` adds it.
void complete(HostListing& listing, const ThisMachine& self, IncludeLocal include) {
  std::vector<Host>& hosts = listing.hosts;
  const bool counts_from_one = listing.rule == SelfRule::by_option_as_first;
  if (self.is_in(hosts)) return;
  if (include == IncludeLocal::no) {
    number(hosts, counts_from_one ? 1 : 0);
  } else if (listing.rule == SelfRule::by_option) {
    throw UsageError(
        fmt::format("-i: cannot tell which host of {} is this machine (none has its address or name; choose "
                    "with -H, where \"local\" is this machine)",
                    listing.where));
  } else {
    put_this_machine_first(hosts);
  }
}

/// Removes this machine from the list or marks it as local, as the list's rule says.
void apply_self_rule(std::vector<Host>& hosts, SelfRule rule, const ThisMachine& self, IncludeLocal include) {
  if (rule == SelfRule::as_listed) return;
  if (rule != SelfRule::as_listed_without_ssh && include == IncludeLocal::no) {
    std::erase_if(hosts, [&self](const Host& host) { return self.is(host); });
    return;
  }
  for (Host& host : hosts) {
    if (self.is(host)) host = this_machine(host.worker, host.name, host.source);
  }
}

void refuse_empty(const HostListing& listing, const std::vector<Host>& hosts) {
  if (!hosts.empty()) return;
  if (listing.rule == SelfRule::as_listed) {
    throw UsageError(fmt::format("{}: no host in it (expected at least one)", listing.where));
  }
  throw UsageError(fmt::format(
      "{}: no other host in it (this machine takes part with -i; other hosts: -H LIST)", listing.where));
}

/// The hosts of `-x`. A number is a worker there, never a count of processes.
std::vector<Host> excluded(const HostQuery& query, const Probe& probe) {
  std::vector<Host> hosts = parse_exclusions(query.exclude, query.exclude_from, probe);
  for (const Host& host : hosts) {
    if (host.slots != 0)
      throw UsageError(fmt::format("{}: bad number {} behind \"{}\" (expected a comma between them)",
                                   host.source, host.slots, host.name));
  }
  return hosts;
}

std::ptrdiff_t uses_of_standard_input(const HostQuery& query) {
  return std::count(query.lists.begin(), query.lists.end(), "-") +
         std::count(query.exclude.begin(), query.exclude.end(), "-");
}

}  // namespace

bool reads_standard_input(const HostQuery& query) { return uses_of_standard_input(query) > 0; }

Discovery discover(const HostQuery& query, const Probe& probe) {
  if (uses_of_standard_input(query) > 1)
    throw UsageError("standard input is asked for twice (give one \"-\")");
  Discovery discovery;
  std::optional<HostListing> listing = is_chosen(query)      ? chosen(query, probe)
                                       : query.metadata_only ? ask_metadata(probe, discovery.tried)
                                                             : find_listing(probe, discovery.tried);
  if (!listing) no_list(query, discovery.tried);
  std::vector<Host>& hosts = listing->hosts;
  name_pods(hosts, query.by_via);
  refuse_numbers(hosts, query.by_via);
  if (query.external && !listing->has_description)
    listing->notes.push_back(fmt::format(
        "--external is ignored: {} is a plain list, not gcloud's description of machines", listing->where));
  if (listing->rule == SelfRule::as_listed) refuse_empty(*listing, hosts);
  ThisMachine self(probe);
  const bool known_by_number = listing->own_worker && !self.is_in(hosts);
  if (known_by_number) self.add(hosts[*listing->own_worker].name);
  if (query.repeats == Repeats::refuse) refuse_repeats(hosts, self);
  complete(*listing, self, query.include_local);
  discovery.all = hosts;
  if (known_by_number)
    discovery.all[*listing->own_worker] = this_machine(*listing->own_worker, "local", listing->where);
  apply_self_rule(hosts, listing->rule, self, query.include_local);
  refuse_empty(*listing, hosts);
  discovery.notes = std::move(listing->notes);
  std::optional<std::string> workers = query.workers;
  if (const auto which = query.workers ? remembered_by(*query.workers) : std::nullopt) {
    RememberedHosts remembered = recall(*which, hosts, probe);
    workers = std::move(remembered.workers);
    discovery.notes.push_back(std::move(remembered.note));
  }
  narrow(hosts, excluded(query, probe), workers);
  discovery.hosts = std::move(hosts);
  expect(!discovery.hosts.empty(), "discover() throws where no host is left");
  return discovery;
}

}  // namespace podrun::hosts
