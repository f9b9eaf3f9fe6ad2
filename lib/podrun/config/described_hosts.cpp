// SPDX-License-Identifier: Apache-2.0
// Takes the addresses of the workers from gcloud's description of a TPU, so that it can be piped to `-H -`.
#include "podrun/config/described_hosts.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/config/yaml_file.hpp"
#include "podrun/hosts/host_pattern.hpp"

namespace podrun::config {
namespace {

constexpr const char* kExpected = "the output of gcloud compute tpus tpu-vm describe for a TPU that is READY";

/// Whether a line occurs in YAML or JSON but not in a host list: `---`, `{`, `[`, `- x`, `key:`, `key: x`.
bool opens_description(std::string_view line) {
  if (line == "---" || line == "[" || line.starts_with("- ")) return true;
  if (line.starts_with('{') || line.starts_with("[{")) return true;
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && (colon + 1 == line.size() || line[colon + 1] == ' ') &&
         line.substr(0, colon).find_first_of(" [") == std::string_view::npos;
}

bool is_description(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = take_part(text, '\n');
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    line.remove_suffix(line.size() - (line.find_last_not_of(" \t\r") + 1));
    if (!line.empty() && !line.starts_with('#')) return opens_description(line);
  }
  return false;
}

std::string text_of(const YAML::Node& node, const char* key) {
  const YAML::Node value = node[key];
  return value && value.IsScalar() ? value.Scalar() : "";
}

/// Any other text could be a range, a comment or this machine in a host list.
bool is_address(const std::string& text) {
  in6_addr binary;
  return text.find('\0') == std::string::npos &&
         (inet_pton(AF_INET, text.c_str(), &binary) == 1 || inet_pton(AF_INET6, text.c_str(), &binary) == 1);
}

std::string address_of(const YAML::Node& endpoint, Addresses which) {
  if (!endpoint.IsMap()) return "";
  if (which == Addresses::internal) return text_of(endpoint, "ipAddress");
  const YAML::Node access = endpoint["accessConfig"];
  return access && access.IsMap() ? text_of(access, "externalIp") : "";
}

/// A TPU with several networks lists one endpoint per network for every worker, the primary one first.
void add_addresses(const YAML::Node& tpu, std::string_view where, Addresses which,
                   std::vector<std::string>& addresses) {
  const std::string name = tpu.IsMap() ? text_of(tpu, "name") : "";
  const YAML::Node endpoints = tpu.IsMap() ? tpu["networkEndpoints"] : YAML::Node();
  if (!endpoints.IsDefined() || !endpoints.IsSequence() || endpoints.size() == 0) {
    const std::string state = tpu.IsMap() ? text_of(tpu, "state") : "";
    throw UsageError(fmt::format("{}: no networkEndpoints{}{} (expected {})", where,
                                 name.empty() ? "" : fmt::format(" of {:?}", name),
                                 state.empty() ? "" : fmt::format(", its state is {}", state), kExpected));
  }
  const YAML::Node networks = tpu["networkConfigs"];
  const std::size_t step = networks && networks.IsSequence() ? std::max<std::size_t>(networks.size(), 1) : 1;
  for (std::size_t i = 0; i < endpoints.size(); i += step) {
    const std::string address = address_of(endpoints[i], which);
    if (!is_address(address)) {
      throw UsageError(fmt::format("{}: {} {} of worker {}{}{} (expected {})", where,
                                   address.empty() ? "no" : "bad",
                                   which == Addresses::external ? "externalIp" : "ipAddress", i / step,
                                   name.empty() ? "" : fmt::format(" of {:?}", name),
                                   address.empty() ? "" : fmt::format(": {:?}", address), kExpected));
    }
    if (addresses.size() == hosts::kMaxHosts)
      throw UsageError(fmt::format("{}: too many hosts (expected at most {})", where, hosts::kMaxHosts));
    addresses.push_back(address);
  }
}

}  // namespace

std::optional<std::string> hosts_of_description(const std::string& text, Addresses which,
                                                std::string_view where) {
  if (!is_description(text)) return std::nullopt;
  try {
    std::vector<std::string> addresses;
    for (const YAML::Node& document : load_yaml(text)) {
      if (document.IsSequence()) {
        for (const YAML::Node& tpu : document) add_addresses(tpu, where, which, addresses);
      } else {
        add_addresses(document, where, which, addresses);
      }
    }
    std::string lines;
    for (const std::string& address : addresses) lines += address + '\n';
    return lines;
  } catch (const YAML::Exception& error) {
    throw UsageError(
        fmt::format("{}:{}: {} (expected {})", where, error.mark.line + 1, error.msg, kExpected));
  }
}

}  // namespace podrun::config
