// SPDX-License-Identifier: Apache-2.0
// Decides which hosts a run has: the list in the options or of the first source that answers, with this
// machine (`-i`), without excluded hosts (`-x`), and only the chosen workers (`--workers`).
#include "podrun/hosts/discovery.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include <fmt/format.h>

#include "podrun/base/expect.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/remembered.hpp"
#include "podrun/hosts/this_machine.hpp"
#include "podrun/hosts/tpu_metadata.hpp"

namespace podrun::hosts {
namespace {

/// An entry of `-x` without a user or port matches any.
bool matches(const Host& entry, const Host& host) {
  return (entry.user.empty() || entry.user == host.user) && (entry.port == 0 || entry.port == port_of(host));
}

std::set<std::size_t> all_workers(const std::vector<Host>& hosts) {
  std::set<std::size_t> numbers;
  for (const Host& host : hosts) numbers.insert(host.worker);
  return numbers;
}

/// The worker numbers in an entry of `-x` that is not a host's name: `3`, `3-7`.
std::vector<std::size_t> as_workers(const Host& entry, const std::set<std::size_t>& known) {
  if (entry.name.find_first_not_of("0123456789-") != std::string::npos) return {};
  std::vector<std::size_t> numbers = parse_workers(entry.name);
  const bool all_known =
      std::all_of(numbers.begin(), numbers.end(), [&](std::size_t number) { return known.contains(number); });
  return all_known ? numbers : std::vector<std::size_t>();
}

std::set<std::size_t> excluded_workers(const std::vector<Host>& hosts, const std::vector<Host>& exclude) {
  const std::set<std::size_t> known = all_workers(hosts);
  std::multimap<std::string, const Host*> by_name;
  for (const Host& host : hosts) {
    by_name.emplace(canonical_name(host.name), &host);
    if (!host.address.empty()) by_name.emplace(canonical_name(host.address), &host);
  }
  std::set<std::size_t> numbers;
  for (const Host& entry : exclude) {
    bool found = false;
    const auto [begin, end] = by_name.equal_range(canonical_name(entry.name));
    for (auto candidate = begin; candidate != end; ++candidate) {
      if (!matches(entry, *candidate->second)) continue;
      numbers.insert(candidate->second->worker);
      found = true;
    }
    if (found) continue;
    const std::vector<std::size_t> by_number = as_workers(entry, known);
    if (by_number.empty()) {
      throw UsageError(
          fmt::format("{}: \"{}\" matches no host (--dry-run shows them)", entry.source, entry.name));
    }
    numbers.insert(by_number.begin(), by_number.end());
  }
  return numbers;
}

std::vector<std::size_t> parse_workers_option(const std::string& text) try {
  return parse_workers(text);
} catch (const UsageError& error) {
  throw UsageError(fmt::format("--workers: {}", error.what()));
}

std::set<std::size_t> selected_workers(const std::vector<Host>& hosts,
                                       const std::optional<std::string>& workers) {
  const std::set<std::size_t> numbers = all_workers(hosts);
  if (!workers || *workers == "all") return numbers;
  std::set<std::size_t> selected;
  for (const std::size_t worker : parse_workers_option(*workers)) {
    if (!numbers.contains(worker)) {
      throw UsageError(fmt::format("--workers: no host has worker number \"{}\" (there are {})", worker,
                                   fold_workers({numbers.begin(), numbers.end()})));
    }
    selected.insert(worker);
  }
  return selected;
}

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
Listing ask_command(const HostQuery& query, const Probe& probe) {
  constexpr const char* kWhere = "--hosts-command";
  HostList list =
      parse_hosts_file(query.read_command(*query.command, probe), kWhere, probe, query.read_description);
  if (list.hosts.empty())
    throw UsageError(fmt::format("{}: it printed no host ({})", kWhere, *query.command));
  return {.where = kWhere,
          .hosts = std::move(list.hosts),
          .notes = std::move(list.notes),
          .has_description = list.has_description};
}

/// The list from `-H`, `--hostfile` or `--hosts-command`.
Listing chosen(const HostQuery& query, const Probe& probe) {
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
  return {.where = from,
          .hosts = std::move(list.hosts),
          .notes = std::move(list.notes),
          .has_description = list.has_description};
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
void complete(Listing& listing, const ThisMachine& self, IncludeLocal include) {
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

void refuse_empty(const Listing& listing, const std::vector<Host>& hosts) {
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

void narrow(std::vector<Host>& hosts, const std::vector<Host>& exclude,
            const std::optional<std::string>& workers) {
  const std::set<std::size_t> excluded = excluded_workers(hosts, exclude);
  const std::set<std::size_t> selected = selected_workers(hosts, workers);
  std::erase_if(hosts, [&](const Host& host) {
    return excluded.contains(host.worker) || !selected.contains(host.worker);
  });
  if (hosts.empty()) throw UsageError("no host is left (-x and --workers exclude all of them)");
}

std::size_t find_host(const std::vector<Host>& hosts, const std::string& wanted, const std::string& where) {
  const auto index = [&](auto found) { return static_cast<std::size_t>(found - hosts.begin()); };
  const auto by_worker = std::find_if(hosts.begin(), hosts.end(), [&wanted](const Host& host) {
    return std::to_string(host.worker) == wanted;
  });
  if (by_worker != hosts.end()) return index(by_worker);
  const auto is_wanted = [&wanted](const Host& host) { return host.name == wanted; };
  const auto by_name = std::find_if(hosts.begin(), hosts.end(), is_wanted);
  if (by_name == hosts.end()) {
    const std::set<std::size_t> numbers = all_workers(hosts);
    throw UsageError(fmt::format(
        "{}: no host has this worker number or name: \"{}\" (there are {}; podrun hosts lists them)", where,
        wanted, fold_workers({numbers.begin(), numbers.end()})));
  }
  if (std::count_if(hosts.begin(), hosts.end(), is_wanted) > 1) {
    throw UsageError(
        fmt::format("{}: \"{}\" is the name of several hosts (give a worker number; podrun hosts lists them)",
                    where, wanted));
  }
  return index(by_name);
}

void include_host(Discovery& discovery, const std::string& wanted, const std::string& where) {
  std::vector<Host>& hosts = discovery.hosts;
  const Host& host = discovery.all[find_host(discovery.all, wanted, where)];
  const auto place = std::ranges::lower_bound(hosts, host.worker, {}, &Host::worker);
  if (place == hosts.end() || place->worker != host.worker) hosts.insert(place, host);
}

bool reads_standard_input(const HostQuery& query) { return uses_of_standard_input(query) > 0; }

Discovery discover(const HostQuery& query, const Probe& probe) {
  if (uses_of_standard_input(query) > 1)
    throw UsageError("standard input is asked for twice (give one \"-\")");
  Discovery discovery;
  std::optional<Listing> listing = is_chosen(query)      ? chosen(query, probe)
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
