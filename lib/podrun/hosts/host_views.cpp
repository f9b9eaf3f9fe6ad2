// SPDX-License-Identifier: Apache-2.0
// Lists of hosts as text: for people, as JSON, and as a podips.txt.
#include "podrun/hosts/host_views.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/error.hpp"
#include "podrun/hosts/host_list.hpp"
#include "podrun/hosts/host_name.hpp"
#include "podrun/hosts/host_words.hpp"
#include "podrun/hosts/sources.hpp"
#include "podrun/hosts/this_machine.hpp"

namespace podrun::hosts {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

std::string shown_address(const Host& host, const std::string& address) {
  if (host.kind == HostKind::local) return "this machine";
  return address.empty() ? "?" : address;
}

Json to_json(const Host& host, const std::string& address) {
  Json json{{"worker", host.worker}, {"host", host.name}};
  if (!host.user.empty()) json["user"] = host.user;
  if (host.port != 0) json["port"] = host.port;
  if (host.kind == HostKind::local) json["local"] = true;
  if (!address.empty()) json["address"] = address;
  if (host.slots != 0) json["slots"] = host.slots;
  json["source"] = host.source;
  return json;
}

/// Whether a text is read as this many hosts where nothing says that podrun wrote it.
bool is_read_as_it_is(const std::string& text, std::size_t count, const Probe& probe) {
  try {
    const HostList list = parse_hosts_file(text, "", probe);
    return list.hosts.size() == count && list.notes.empty();
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

std::string hosts_table(const Discovery& found, const std::vector<std::string>& addresses) {
  std::size_t name_width = 0;
  std::size_t address_width = 0;
  for (std::size_t i = 0; i < found.hosts.size(); ++i) {
    name_width = std::max(name_width, to_text(found.hosts[i]).size());
    address_width = std::max(address_width, shown_address(found.hosts[i], addresses[i]).size());
  }
  std::string text;
  for (std::size_t i = 0; i < found.hosts.size(); ++i) {
    const Host& host = found.hosts[i];
    text += fmt::format("{:>{}}  {:<{}}  {:<{}}  {}\n", host.worker,
                        std::to_string(found.hosts.back().worker).size(), to_text(host), name_width,
                        shown_address(host, addresses[i]), address_width, host.source);
  }
  return text;
}

std::string hosts_json(const Discovery& found, const std::vector<std::string>& addresses) {
  Json json{{"v", kVersion}, {"hosts", Json::array()}, {"tried", Json::array()}, {"notes", found.notes}};
  for (std::size_t i = 0; i < found.hosts.size(); ++i) {
    json["hosts"].push_back(to_json(found.hosts[i], addresses[i]));
  }
  for (const TriedSource& attempt : found.tried) {
    json["tried"].push_back({{"where", attempt.where}, {"result", attempt.result}});
  }
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string saved_list(const std::vector<Host>& all, const Probe& probe) {
  const ThisMachine self(probe);
  const auto own = std::count_if(all.begin(), all.end(), [&](const Host& host) { return self.is(host); });
  const bool only_others = own == 1 && self.is(all.front());
  const bool has_all = own == 0 && all.front().worker == 0;
  std::string text;
  for (const Host& host : std::span(all).subspan(only_others ? 1 : 0))
    text += to_text(host) + words_of(host) + "\n";
  if (has_all) return std::string(kAllHostsLine) + "\n" + text;
  if (is_read_as_it_is(text, all.size() - (only_others ? 1 : 0), probe)) return text;
  return std::string(kMadeByPodrun) + " one host a line\n" + text;
}

}  // namespace podrun::hosts
