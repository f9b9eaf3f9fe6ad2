// SPDX-License-Identifier: Apache-2.0
// The places where podrun looks for hosts, in their order: variables, Slurm, SkyPilot, TPU variables,
// podips.txt, the metadata server.
#include "podrun/hosts/sources.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/this_machine.hpp"
#include "podrun/hosts/tpu_metadata.hpp"

namespace podrun::hosts {
namespace {

using Tried = std::vector<TriedSource>;
using Source = std::optional<HostListing> (*)(const Probe&, Tried&);

/// The variable's value, without surrounding blanks. If it is unset or empty: none, and `tried` says so.
std::optional<std::string> variable(const std::string& name, const Probe& probe, Tried& tried) {
  const std::optional<std::string> value = probe.env(name);
  const std::string_view text = trim_space(value ? std::string_view(*value) : "");
  if (!text.empty()) return std::string(text);
  tried.push_back({name, value ? "set, but empty" : std::string(kNotSet)});
  return std::nullopt;
}

HostListing found(HostListing listing, Tried& tried) {
  tried.push_back({listing.where, count_hosts(listing.hosts.size())});
  return listing;
}

HostListing found(const std::string& where, SelfRule rule, HostList list, Tried& tried) {
  return found(listing_of(where, std::move(list), rule), tried);
}

std::optional<HostListing> podrun_hosts(const Probe& probe, Tried& tried) {
  const std::string name = "PODRUN_HOSTS";
  const auto value = variable(name, probe, tried);
  if (!value) return std::nullopt;
  if (*value == "-") throw UsageError(name + ": \"-\" is for -H alone (expected a list such as tpu-[0-3])");
  return found(name, SelfRule::as_listed, parse_host_list({*value}, name, probe), tried);
}

std::optional<HostListing> podrun_hostfile(const Probe& probe, Tried& tried) {
  const std::string name = "PODRUN_HOSTFILE";
  const auto path = variable(name, probe, tried);
  if (!path) return std::nullopt;
  const std::optional<std::string> text = probe.read_file(*path);
  if (!text)
    throw UsageError(fmt::format("{}: no such file {:?} (unset it, or write one host a line)", name, *path));
  return found(name, SelfRule::as_listed, parse_hosts_file(*text, *path, probe), tried);
}

/// Appends the hosts that are not in the list yet.
void append_new(std::vector<Host>& hosts, const std::vector<Host>& more) {
  std::set<std::string> known;
  for (const Host& host : hosts) known.insert(canonical_name(host.name));
  for (const Host& host : more) {
    if (!known.insert(canonical_name(host.name)).second) continue;
    hosts.push_back(host);
    hosts.back().worker = hosts.size() - 1;
  }
}

HostList merge_repeats(HostList list) {
  HostList merged{.notes = std::move(list.notes)};
  std::map<std::string, std::size_t> places;
  for (Host& host : list.hosts) {
    const auto [place, is_new] = places.emplace(canonical_name(host.name), merged.hosts.size());
    if (is_new) {
      merged.hosts.push_back(std::move(host));
      merged.hosts.back().worker = place->second;
    } else {
      Host& first = merged.hosts[place->second];
      first.slots = std::max<std::size_t>(first.slots, 1) + std::max<std::size_t>(host.slots, 1);
    }
  }
  return merged;
}

/// In a heterogeneous job SLURM_JOB_NODELIST has only the nodes of the first group, and groups may share
/// nodes: https://slurm.schedmd.com/heterogeneous_jobs.html
std::optional<HostListing> slurm(const Probe& probe, Tried& tried) {
  const std::string name = "SLURM_JOB_NODELIST";
  HostListing listing{.where = name, .rule = SelfRule::as_listed_without_ssh};
  for (std::size_t group = 0;; ++group) {
    const std::string of_group = fmt::format("{}_HET_GROUP_{}", name, group);
    const std::optional<std::string> nodes = probe.env(of_group);
    if (!nodes) break;
    append_new(listing.hosts, parse_plain_list(trim_space(*nodes), of_group));
  }
  if (!listing.hosts.empty()) {
    listing.where += "_HET_GROUP_*";
    return found(std::move(listing), tried);
  }
  const auto nodes = variable(name, probe, tried);
  if (!nodes) return std::nullopt;
  listing.hosts = parse_plain_list(*nodes, name);
  return found(std::move(listing), tried);
}

std::optional<HostListing> sky_pilot(const Probe& probe, Tried& tried) {
  const std::string name = "SKYPILOT_NODE_IPS";
  const auto value = variable(name, probe, tried);
  if (!value) return std::nullopt;
  HostListing listing{.where = name, .rule = SelfRule::as_listed_without_ssh};
  for (std::string_view rest = *value; !rest.empty();) {
    const std::string_view address = rest.substr(0, rest.find_first_of(" \t\r\n"));
    listing.hosts.push_back(parse_plain_host(address, name));
    listing.hosts.back().worker = listing.hosts.size() - 1;
    rest = trim_space(rest.substr(address.size()));
  }
  return found(std::move(listing), tried);
}

/// Removes the port of the TPU runtime from `10.0.0.1:8471` or `[2001:db8::1]:8471`.
std::string without_port(std::string_view address) {
  if (address.starts_with('[')) return std::string(address.substr(1, address.find(']') - 1));
  const bool has_port = std::count(address.begin(), address.end(), ':') == 1;
  return std::string(address.substr(0, has_port ? address.find(':') : address.size()));
}

/// Reads one value for every host, in the order of the workers; several processes on one host count once.
std::optional<HostListing> tpu_variable(const std::string& name, const Probe& probe, Tried& tried) {
  const auto value = variable(name, probe, tried);
  if (!value) return std::nullopt;
  std::vector<std::string> names;
  for (const std::string_view entry : split(*value, ',')) names.push_back(without_port(trim_space(entry)));
  if (std::all_of(names.begin(), names.end(),
                  [](const std::string& each) { return each == "localhost" || each == "local"; })) {
    tried.push_back({name, fmt::format("only \"{}\", which says nothing", names.front())});
    return std::nullopt;
  }
  HostListing listing{.where = name, .rule = SelfRule::by_option};
  std::vector<Host> hosts;
  for (const std::string& host : names) hosts.push_back(parse_plain_host(host, name));
  append_new(listing.hosts, hosts);
  const std::string worker = probe.env("TPU_WORKER_ID").value_or("");
  if (!worker.empty()) {
    const std::string own =
        canonical_name(names[parse_worker_number(trim_space(worker), names.size(), "TPU_WORKER_ID")]);
    const auto is_own = [&own](const Host& host) { return canonical_name(host.name) == own; };
    listing.own_worker = std::find_if(listing.hosts.begin(), listing.hosts.end(), is_own)->worker;
  }
  if (auto note = multislice_note(probe.env("MEGASCALE_NUM_SLICES").value_or(""), name))
    listing.notes.push_back(*std::move(note));
  return found(std::move(listing), tried);
}

/// A file whose path a scheduler gives in a variable. A host stands there once for each of its processes
/// (PBS, LSF), so a repeated one has as many slots.
std::optional<HostListing> scheduler_file(const std::string& name, const Probe& probe, Tried& tried) {
  const auto path = variable(name, probe, tried);
  if (!path) return std::nullopt;
  const std::optional<std::string> text = probe.read_file(*path);
  if (!text) {
    tried.push_back({name, fmt::format("no such file {:?}", *path)});
    return std::nullopt;
  }
  return found(name, SelfRule::as_listed_without_ssh, merge_repeats(parse_hosts_file(*text, *path, probe)),
               tried);
}

/// A file that an operator mounts into each of its containers, DeepSpeed's and Kubeflow's.
std::optional<HostListing> job_file(const std::string& path, const Probe& probe, Tried& tried) {
  const std::optional<std::string> text = probe.read_file(path);
  if (!text) {
    tried.push_back({path, std::string(kNoSuchFile)});
    return std::nullopt;
  }
  return found(path, SelfRule::as_listed_without_ssh, merge_repeats(parse_hosts_file(*text, path, probe)),
               tried);
}

std::optional<HostListing> podips(const std::optional<std::string>& path, const Probe& probe, Tried& tried) {
  if (!path) return std::nullopt;
  const std::string where = short_path(*path, probe.env("HOME").value_or(""));
  const std::optional<std::string> text = probe.read_file(*path);
  if (!text) {
    tried.push_back({where, std::string(kNoSuchFile)});
    return std::nullopt;
  }
  const bool has_all = text->starts_with(kAllHostsLine);
  return found(where, has_all ? SelfRule::by_option_or_in_front : SelfRule::by_option_as_first,
               parse_hosts_file(*text, where, probe), tried);
}

/// `$XDG_CONFIG_HOME/name`. A relative $XDG_CONFIG_HOME is ignored:
/// https://specifications.freedesktop.org/basedir-spec
std::optional<std::string> configuration_path(const std::string& name, const Probe& probe) {
  const std::string configured = probe.env("XDG_CONFIG_HOME").value_or("");
  if (configured.starts_with('/')) return configured + "/" + name;
  const std::optional<std::string> home = probe.env("HOME");
  return home ? std::optional(*home + "/.config/" + name) : std::nullopt;
}

/// In the order in which they are asked. JAX prefers TPU_PROCESS_ADDRESSES to the host names.
constexpr std::array<Source, 14> kSources = {
    podrun_hosts,
    podrun_hostfile,
    slurm,
    sky_pilot,
    [](const Probe& probe, Tried& tried) { return scheduler_file("DLTS_HOSTFILE", probe, tried); },
    [](const Probe& probe, Tried& tried) { return scheduler_file("PBS_NODEFILE", probe, tried); },
    [](const Probe& probe, Tried& tried) { return job_file("/job/hostfile", probe, tried); },
    [](const Probe& probe, Tried& tried) { return job_file("/etc/mpi/hostfile", probe, tried); },
    [](const Probe& probe, Tried& tried) { return tpu_variable("TPU_PROCESS_ADDRESSES", probe, tried); },
    [](const Probe& probe, Tried& tried) { return tpu_variable("TPU_WORKER_HOSTNAMES", probe, tried); },
    [](const Probe& probe, Tried& tried) { return podips(podips_path(probe), probe, tried); },
    [](const Probe& probe, Tried& tried) {
      return podips(configuration_path("podrun/podips.txt", probe), probe, tried);
    },
    [](const Probe& probe, Tried& tried) {
      return podips(configuration_path("tpux/podips.txt", probe), probe, tried);
    },
    ask_metadata};

}  // namespace

std::vector<std::string> to_texts(const std::vector<TriedSource>& tried) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tried.size();) {
    std::string places = tried[i].where;
    const std::string& result = tried[i].result;
    while (++i < tried.size() && tried[i].result == result) places += ", " + tried[i].where;
    texts.push_back(places + ": " + result);
  }
  return texts;
}

HostListing listing_of(std::string where, HostList list, SelfRule rule) {
  return {.where = std::move(where),
          .rule = rule,
          .hosts = std::move(list.hosts),
          .notes = std::move(list.notes),
          .has_description = list.has_description};
}

std::optional<HostListing> find_listing(const Probe& probe, std::vector<TriedSource>& tried) {
  for (const Source source : kSources) {
    if (auto listing = source(probe, tried)) return listing;
  }
  return std::nullopt;
}

std::optional<std::string> podips_path(const Probe& probe) {
  const std::optional<std::string> home = probe.env("HOME");
  return home ? std::optional(*home + "/podips.txt") : std::nullopt;
}

}  // namespace podrun::hosts
