// SPDX-License-Identifier: Apache-2.0
// Finds the workers of a TPU slice through Google's metadata server.
#include "podrun/hosts/tpu_metadata.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::hosts {
namespace {

/// The address of every metadata server. Its name, metadata.google.internal, would need a name server.
constexpr std::string_view kAddress = "169.254.169.254";
constexpr std::string_view kFlavor = "Google";
constexpr std::chrono::milliseconds kPatience{1000};

enum Key { endpoints, agent_worker_number, worker_id, tpu_env, accelerator_type };
constexpr std::array kKeys = {"worker-network-endpoints", "agent-worker-number", "worker-id", "tpu-env",
                              "accelerator-type"};

bool says_google(const Probe& probe, const std::string& path) {
  try {
    return probe.read_file(path).value_or("").find("Google") != std::string::npos;
  } catch (const UsageError&) {
    return false;  // it exists, but podrun may not read it
  }
}

/// Why an answer is unusable; none for a good one.
std::optional<std::string> refusal(const HttpAnswer& answer) {
  if (answer.status == 0) return answer.error;
  if (answer.flavor != kFlavor) {
    return fmt::format("HTTP status {} without \"Metadata-Flavor: Google\", so it is something else",
                       answer.status);
  }
  if (answer.status == 404) return fmt::format("no {}, so this is no TPU VM", kKeys[endpoints]);
  if (answer.status != 200) return fmt::format("HTTP status {}", answer.status);
  return std::nullopt;
}

/// The values of the keys; empty where the server has none.
std::vector<std::string> texts(const std::vector<HttpAnswer>& answers) {
  std::vector<std::string> found;
  for (const HttpAnswer& answer : answers) {
    const bool is_good = answer.status == 200 && answer.flavor == kFlavor;
    found.emplace_back(is_good ? trim_space(answer.body) : "");
  }
  return found;
}

std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

/// The product of numbers such as `2,2,8`; none for other text.
std::optional<std::size_t> product(std::string_view bounds) {
  std::size_t result = 1;
  while (!bounds.empty()) {
    const std::optional<std::size_t> factor = to_number(take_part(bounds, ','));
    if (!factor || *factor > kMaxHosts) return std::nullopt;
    result = std::min(result * *factor, kMaxHosts + 1);
  }
  return result;
}

/// The first value that is not empty.
std::string first_of(std::initializer_list<std::string> values) {
  const auto found =
      std::find_if(values.begin(), values.end(), [](const auto& text) { return !text.empty(); });
  return found == values.end() ? "" : *found;
}

HostListing to_listing(const std::string& where, const std::vector<std::string>& said, const Probe& probe) {
  HostListing listing{.where = where, .rule = SelfRule::by_option};
  listing.hosts = parse_endpoints(said[endpoints], fmt::format("{}: {}", where, kKeys[endpoints]));
  for (Host& host : listing.hosts) host.source = where;
  const auto environment = parse_tpu_env(said[tpu_env]);
  const std::string own =
      first_of({said[agent_worker_number], said[worker_id], value_of(environment, "WORKER_ID")});
  if (!own.empty()) {
    listing.own_worker =
        parse_worker_number(own, listing.hosts.size(), where + ": worker number of this machine");
  }
  const std::string bounds = value_of(environment, "HOST_BOUNDS");
  const std::size_t expected = product(bounds).value_or(0);
  if (!bounds.empty() && expected != 0 && expected != listing.hosts.size()) {
    listing.notes.push_back(fmt::format("{} lists {}, but HOST_BOUNDS '{}' are {}", where,
                                        count_hosts(listing.hosts.size()), bounds, expected));
  }
  const std::string slices = first_of(
      {probe.env("MEGASCALE_NUM_SLICES").value_or(""), value_of(environment, "MEGASCALE_NUM_SLICES")});
  if (auto note = multislice_note(slices, where)) listing.notes.push_back(*std::move(note));
  return listing;
}

std::string url(const std::string& host, std::string_view key) {
  return fmt::format("http://{}/computeMetadata/v1/instance/attributes/{}", host, key);
}

}  // namespace

bool is_google_machine(const Probe& probe) {
  return says_google(probe, "/sys/class/dmi/id/product_name") ||
         says_google(probe, "/sys/class/dmi/id/bios_vendor");
}

std::optional<HostListing> ask_metadata(const Probe& probe, std::vector<TriedSource>& tried) {
  const auto skip = [&tried](std::string where, std::string reason) {
    tried.push_back({std::move(where), std::move(reason)});
    return std::nullopt;
  };
  const std::string host =
      first_of({probe.env("GCE_METADATA_HOST").value_or(""), probe.env("GCE_METADATA_IP").value_or("")});
  if (probe.env("TPU_SKIP_MDS_QUERY"))
    return skip("metadata server", fmt::format("{} (TPU_SKIP_MDS_QUERY)", kNotAsked));
  if (host.empty() && !is_google_machine(probe)) {
    return skip("metadata server", fmt::format("{} (this is no Google machine)", kNotAsked));
  }
  const std::string address = first_of({host, std::string(kAddress)});
  const std::string where = "metadata server " + address;
  std::vector<std::string> urls;
  for (const char* key : kKeys) urls.push_back(url(address, key));
  const std::vector<HttpAnswer> answers = probe.http_get(urls, kPatience);
  if (const auto reason = refusal(answers[endpoints])) return skip(where, *reason);
  const std::vector<std::string> said = texts(answers);
  HostListing listing = to_listing(where, said, probe);
  const auto environment = parse_tpu_env(said[tpu_env]);
  const std::string accelerator =
      first_of({said[accelerator_type], value_of(environment, "ACCELERATOR_TYPE")});
  tried.push_back(
      {where, count_hosts(listing.hosts.size()) + (accelerator.empty() ? "" : " of a " + accelerator)});
  return listing;
}

std::vector<Host> parse_endpoints(std::string_view text, std::string_view where) {
  std::vector<Host> hosts;
  for (const std::string_view part : split(text, ',')) {
    const HostEntry entry{trim_space(part), where};
    std::array<unsigned char, sizeof(in6_addr)> binary;
    const bool is_ipv6 = inet_pton(AF_INET6, std::string(entry.text).c_str(), binary.data()) == 1;
    const auto colons = is_ipv6 ? 0 : std::count(entry.text.begin(), entry.text.end(), ':');
    if (colons != 0 && colons != 2) entry.refuse("endpoint", entry.text, "name:id:address, or an address");
    if (hosts.size() == kMaxHosts) entry.refuse_more();
    const std::size_t name = colons == 0 ? 0 : entry.text.rfind(':') + 1;
    hosts.push_back(parse_plain_host(entry.text.substr(name), where));
    hosts.back().worker = hosts.size() - 1;
  }
  return hosts;
}

std::map<std::string, std::string> parse_tpu_env(std::string_view text) {
  constexpr std::string_view kPrefix = "TPU_";
  std::map<std::string, std::string> variables;
  while (!text.empty()) {
    const std::string_view line = take_part(text, '\n');
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view name = trim_space(line.substr(0, colon));
    std::string_view value = trim_space(line.substr(colon + 1));
    if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
    if (value.size() > 1 && value.front() == '\'' && value.back() == '\'') {
      value = value.substr(1, value.size() - 2);
    }
    variables.emplace(name, value);
  }
  return variables;
}

std::optional<std::string> multislice_note(std::string_view slices, std::string_view where) {
  const std::size_t count = to_number(slices).value_or(0);
  if (count < 2) return std::nullopt;
  return fmt::format(
      "{} knows only this one of {} slices (to join them, list their hosts under \"pods:\" in "
      "config.yaml, or with -H)",
      where, count);
}

}  // namespace podrun::hosts
