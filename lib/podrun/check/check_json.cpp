// SPDX-License-Identifier: Apache-2.0
// Writes the report of `podrun check --json`; docs/check-schema.json has its schema.
#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "podrun/check/check_text.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::check {
namespace {

using Json = nlohmann::ordered_json;

double to_seconds(std::chrono::microseconds time) { return std::chrono::duration<double>(time).count(); }

Json workers_of(const std::vector<hosts::Host>& hosts, const std::vector<std::size_t>& places) {
  Json workers = Json::array();
  for (const std::size_t place : places) workers.push_back(hosts[place].worker);
  return workers;
}

Json facts_of(const HostFacts& facts) {
  Json json = Json::object();
  for (const auto& [name, value] : facts.values) json[name] = value;
  if (facts.memory_total > 0)
    json["memory"] = {{"total", facts.memory_total}, {"available", facts.memory_available}};
  json["disks"] = Json::array();
  for (const DiskSpace& disk : facts.disks) {
    json["disks"].push_back(
        {{"role", disk.role}, {"mount", disk.mount}, {"size", disk.size}, {"available", disk.available}});
  }
  json["devices"] = facts.devices;
  json["pci"] = facts.pci;
  json["gpus"] = facts.gpus;
  json["holders"] = Json::array();
  for (const DeviceHolder& holder : facts.holders) {
    json["holders"].push_back({{"device", holder.device},
                               {"pid", std::stoul(holder.pid)},
                               {"user", holder.user},
                               {"command", holder.command}});
  }
  json["sees_all_holders"] = facts.sees_all;
  return json;
}

Json host_of(const hosts::Host& host, const CheckedHost& checked, bool usable) {
  Json json{{"worker", host.worker}, {"host", host.name}};
  if (!host.user.empty()) json["user"] = host.user;
  if (host.port != 0) json["port"] = host.port;
  json["usable"] = usable;
  json["answered"] = checked.facts.complete;
  if (!checked.facts.complete) {
    if (const auto* unreachable = std::get_if<run::Unreachable>(&checked.outcome))
      report::add_failure(json, unreachable->failure);
    if (const auto* lost = std::get_if<run::Lost>(&checked.outcome)) report::add_failure(json, lost->failure);
    json["message"] = report::describe(checked.outcome);
  }
  if (checked.clock) {
    json["clock"] = {{"ahead_seconds", to_seconds(checked.clock->ahead)},
                     {"uncertainty_seconds", to_seconds(checked.clock->uncertainty)}};
  }
  if (checked.facts.answered) json["facts"] = facts_of(checked.facts);
  return json;
}

}  // namespace

std::string check_json(output::WallTime time, const std::vector<hosts::Host>& hosts,
                       const std::vector<CheckedHost>& checked, const CheckReport& report) {
  Json json{{"v", 1}, {"event", "check"}, {"time", output::format_utc(time)}, {"well", report.is_well()}};
  json["hosts"] = Json::array();
  const std::vector<std::size_t> unusable = report.unusable();
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const bool usable = !std::binary_search(unusable.begin(), unusable.end(), host);
    json["hosts"].push_back(host_of(hosts[host], checked[host], usable));
  }
  json["items"] = Json::array();
  for (const CheckItem& item : report.items) {
    Json groups = Json::array();
    for (const CheckGroup& group : item.groups)
      groups.push_back({{"workers", workers_of(hosts, group.hosts)}, {"text", group.text}});
    json["items"].push_back({{"name", item.name}, {"agreed", item.agreed()}, {"groups", std::move(groups)}});
  }
  json["problems"] = Json::array();
  for (const CheckProblem& problem : report.problems) {
    Json each{{"what", problem.what}, {"workers", workers_of(hosts, problem.hosts)}};
    if (!problem.details.empty()) each["details"] = problem.details;
    json["problems"].push_back(std::move(each));
  }
  json["notes"] = report.notes;
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace podrun::check
