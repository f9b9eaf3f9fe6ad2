// SPDX-License-Identifier: Apache-2.0
// The words of `podrun check` (agreement first, then differences, then problems), and the JSON of its --json.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/check/check_report.hpp"
#include "podrun/output/cell_width.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::check {
namespace {

constexpr std::size_t kWidth = 79;   ///< cells of a line, unless one part of it is longer
constexpr std::size_t kGroups = 8;   ///< shown for one item; further ones are only counted
constexpr std::size_t kDetails = 4;  ///< shown for one problem, likewise

bool have_same_hosts(const CheckItem& a, const CheckItem& b) {
  return std::ranges::equal(a.groups, b.groups, {}, &CheckGroup::hosts, &CheckGroup::hosts);
}

class CheckText {
 public:
  CheckText(const std::vector<hosts::Host>& hosts, const CheckReport& report, std::string_view separator,
            std::string_view called)
      : hosts_(hosts), report_(report), separator_(separator), called_(called) {}

  std::vector<std::string> make() {
    add_agreement();
    add_differences();
    add_problems();
    add_kill_command();
    if (!report_.changed_keys.empty())
      lines_.push_back(report::forget_keys_advice(hosts_, report_.changed_keys, called_));
    for (const std::string& note : report_.notes) lines_.push_back("note: " + output::escape_controls(note));
    add_verdict();
    return std::move(lines_);
  }

 private:
  void add_agreement() {
    if (report_.answered == 0) return;
    if (hosts_.size() == 1) {
      lines_.emplace_back("1 host has:");
    } else if (report_.answered == hosts_.size()) {
      lines_.push_back(fmt::format("{} agree on:", count_hosts(hosts_.size())));
    } else {
      lines_.push_back(fmt::format("{} of {} {}:", report_.answered, count_hosts(hosts_.size()),
                                   report_.answered == 1 ? "has answered" : "have answered, and agree on"));
    }
    std::map<std::pair<std::size_t, std::vector<std::size_t>>, std::vector<std::string>> topics;
    for (const CheckItem& item : report_.items) {
      if (!item.agreed()) continue;
      const CheckGroup& group = item.groups.front();
      std::vector<std::string>& parts = topics[{item.topic, group.hosts}];
      const bool all = group.hosts.size() == report_.answered || !parts.empty();
      parts.push_back(all ? group.text : output::fold_hosts(hosts_, group.hosts) + ' ' + group.text);
    }
    for (const auto& [topic, parts] : topics) add(parts);
    std::vector<std::string> ranges;
    for (const CheckRange& range : report_.ranges) {
      const bool named = range.least && hosts_.size() > 1;
      ranges.push_back(
          range.text +
          (named ? fmt::format(" ({} least)", output::fold_hosts(hosts_, {&*range.least, 1})) : ""));
    }
    add(ranges);
  }

  /// Joins items that differ between the same hosts, as where one host has another image.
  void add_differences() {
    std::vector<std::vector<const CheckItem*>> alike;
    for (const CheckItem& item : report_.items) {
      if (item.agreed()) continue;
      auto same = std::find_if(alike.begin(), alike.end(),
                               [&](const auto& items) { return have_same_hosts(*items.front(), item); });
      if (same == alike.end()) same = alike.emplace(alike.end());
      same->push_back(&item);
    }
    if (!alike.empty()) lines_.emplace_back("they differ:");
    for (const std::vector<const CheckItem*>& items : alike) {
      const std::vector<CheckGroup>& groups = items.front()->groups;
      std::vector<std::string> parts;
      for (std::size_t i = 0; i < groups.size() && i < kGroups; ++i) {
        std::string part = output::fold_hosts(hosts_, groups[i].hosts);
        for (const CheckItem* item : items)
          part += (item == items.front() ? " " : ", ") + item->groups[i].text;
        parts.push_back(std::move(part));
      }
      if (groups.size() > kGroups) parts.push_back(fmt::format("and {} more", groups.size() - kGroups));
      add(parts);
    }
  }

  void add_problems() {
    if (!report_.problems.empty())
      lines_.emplace_back(report_.problems.size() == 1 ? "problem:" : "problems:");
    for (const CheckProblem& problem : report_.problems) {
      const bool one = problem.hosts.size() == 1;
      const std::string name = one ? hosts_[problem.hosts.front()].name + ": " : "";
      std::string line =
          fmt::format("{} {}{}", output::fold_hosts(hosts_, problem.hosts), name, problem.what);
      if (one && !problem.details.empty()) line += ' ' + problem.details.front();
      if (one || problem.details.empty()) {
        add({line});
        continue;
      }
      line += ": ";
      for (std::size_t i = 0; i < problem.details.size() && i < kDetails; ++i) {
        line += fmt::format("{}{} {}", i == 0 ? "" : ", ", output::fold_hosts(hosts_, {&problem.hosts[i], 1}),
                            problem.details[i]);
      }
      if (problem.details.size() > kDetails)
        line += fmt::format(" and {} more", problem.details.size() - kDetails);
      add({line});
    }
  }

  void add_verdict() {
    const bool have_all = report_.answered == hosts_.size();
    if (report_.is_well() && hosts_.size() == 1) {
      lines_.emplace_back("the host is fine");
    } else if (report_.is_well()) {
      lines_.push_back(have_all
                           ? fmt::format("all {} are fine, and alike", count_hosts(hosts_.size()))
                           : fmt::format("{} of {} {} fine", report_.answered, count_hosts(hosts_.size()),
                                         report_.answered == 1 ? "is" : "are"));
    }
    std::string names;
    for (const CheckItem& item : report_.items) {
      if (!item.agreed()) names += (names.empty() ? "" : ", ") + item.name;
    }
    if (!names.empty()) lines_.push_back("the hosts differ: " + names);
    const std::vector<std::size_t> bad = report_.unusable();
    if (bad.empty()) return;
    std::string line = "the host has a problem";
    if (hosts_.size() > 1)
      line = fmt::format("{} of {} {} a problem", bad.size(), count_hosts(hosts_.size()),
                         bad.size() == 1 ? "has" : "have");
    if (bad.size() < hosts_.size()) {
      line += fmt::format("; to go on without {}: --workers {}", bad.size() == 1 ? "it" : "them",
                          workers_without(bad));
    }
    lines_.push_back(std::move(line));
  }

  void add_kill_command() {
    if (report_.busy.empty()) return;
    std::string folded = output::fold_hosts(hosts_, report_.busy);
    folded = folded.substr(1, folded.size() - 2);
    lines_.push_back(fmt::format("to free the accelerators: {} --workers {} kill", called_, folded));
  }

  std::string workers_without(const std::vector<std::size_t>& bad) const {
    std::vector<std::size_t> good;
    for (std::size_t host = 0; host < hosts_.size(); ++host) {
      if (!std::binary_search(bad.begin(), bad.end(), host)) good.push_back(host);
    }
    const std::string folded = output::fold_hosts(hosts_, good);
    return folded.substr(1, folded.size() - 2);
  }

  /// Adds lines with as many parts as fit.
  void add(const std::vector<std::string>& parts) {
    std::string line;
    for (const std::string& raw : parts) {
      const std::string part = output::escape_controls(raw);
      if (line.empty()) {
        line = "  " + part;
      } else if (output::cell_width(line) + separator_.size() + output::cell_width(part) <= kWidth) {
        line += std::string(separator_) + part;
      } else {
        lines_.push_back(std::exchange(line, "    " + part));
      }
    }
    if (!line.empty()) lines_.push_back(std::move(line));
  }

  const std::vector<hosts::Host>& hosts_;
  const CheckReport& report_;
  const std::string_view separator_;
  const std::string_view called_;
  std::vector<std::string> lines_;
};

using Json = nlohmann::ordered_json;

Json workers_of(const std::vector<hosts::Host>& hosts, const std::vector<std::size_t>& places) {
  Json workers = Json::array();
  for (const std::size_t place : places) workers.push_back(hosts[place].worker);
  return workers;
}

Json facts_of(const HostFacts& facts) {
  Json json = Json::object();
  for (const auto& [name, value] : facts.values) json[name] = value;
  if (facts.memory_total) json["memory"]["total"] = *facts.memory_total;
  if (facts.memory_available) json["memory"]["available"] = *facts.memory_available;
  json["disks"] = Json::array();
  for (const DiskSpace& disk : facts.disks) {
    json["disks"].push_back(
        {{"role", disk.role}, {"mount", disk.mount}, {"size", disk.size}, {"available", disk.available}});
  }
  json["devices"] = Json::array();
  for (const Device& device : facts.devices) json["devices"].push_back(device.path);
  json["pci"] = facts.pci;
  json["gpus"] = facts.gpus;
  json["holders"] = Json::array();
  for (const HeldDevice& holder : facts.holders) {
    json["holders"].push_back(
        {{"device", holder.device}, {"pid", holder.pid}, {"user", holder.user}, {"command", holder.command}});
    if (!holder.job.empty()) json["holders"].back()["job"] = holder.job;
  }
  json["sees_all_holders"] = !facts.sees_own;
  return json;
}

Json host_of(const hosts::Host& host, const CheckedHost& checked, bool usable) {
  Json json{{"worker", host.worker}, {"host", host.name}};
  if (!host.user.empty()) json["user"] = host.user;
  if (host.port != 0) json["port"] = host.port;
  json["usable"] = usable;
  json["answered"] = checked.facts.is_complete;
  if (!checked.facts.is_complete) {
    if (const auto* unreachable = std::get_if<run::Unreachable>(&checked.outcome))
      report::add_failure(json, unreachable->failure);
    if (const auto* lost = std::get_if<run::Lost>(&checked.outcome)) report::add_failure(json, lost->failure);
    json["message"] = report::describe(checked.outcome);
  }
  if (checked.clock) {
    json["clock"] = {{"ahead_seconds", to_seconds(checked.clock->ahead)},
                     {"uncertainty_seconds", to_seconds(checked.clock->uncertainty)}};
  }
  if (checked.facts.has_begun) json["facts"] = facts_of(checked.facts);
  return json;
}

}  // namespace

std::vector<std::string> describe_check(const std::vector<hosts::Host>& hosts, const CheckReport& report,
                                        std::string_view separator, std::string_view called) {
  return CheckText(hosts, report, separator, called).make();
}

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
