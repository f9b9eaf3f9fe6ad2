// SPDX-License-Identifier: Apache-2.0
// `podrun top --json`: samples for programs.
#include "podrun/top/sample_json.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "podrun/devices/watchers.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/supervisor/mark.hpp"

namespace podrun::top {
namespace {

using Json = nlohmann::ordered_json;

/// To tenths, as a number that JSON shows briefly.
double tenths(double value) { return std::round(value * 10) / 10 + 0.0; }  // no -0.0

template <typename Value>
void add(Json& object, const char* key, const std::optional<Value>& value) {
  if (value) object[key] = *value;
}
void add_tenths(Json& object, const char* key, const std::optional<double>& value) {
  if (value) object[key] = tenths(*value);
}
void add_rates(Json& event, const char* key, const std::optional<Rates>& rates, const char* in,
               const char* out) {
  if (rates) event[key] = {{in, std::llround(rates->in)}, {out, std::llround(rates->out)}};
}

Json cpu(const HostRow& row) {
  Json object = Json::object();
  if (row.report.cores > 0) object["cores"] = row.report.cores;
  add_tenths(object, "busy", at(row.figures, Figure::cpu));
  if (const auto times = cpu_times(row.report)) {
    object["user"] = tenths(times->user);
    object["system"] = tenths(times->system);
    object["wait"] = tenths(times->wait);
    object["steal"] = tenths(times->steal);
  }
  add(object, "load", row.report.now->load);
  add(object, "pressure", row.report.now->cpu_pressure);
  return object;
}

Json memory(const Counters& now) {
  Json object = Json::object();
  add(object, "total", now.memory_total);
  add(object, "available", now.memory_available);
  add(object, "swap_used", now.swap_used());
  add(object, "pressure", now.memory_pressure);
  return object;
}

Json chip(const HostReport& report, std::size_t index) {
  Json one = {{"index", index}};
  if (!report.gpu_name.empty()) one["name"] = report.gpu_name;
  const std::span<const Chip> known = fresh_chips(report);
  const auto found = std::ranges::find(known, index, &Chip::index);
  if (found == known.end()) return one;
  add_tenths(one, "busy", found->busy);
  add_tenths(one, "watts", found->watts);
  add(one, "memory_used", found->memory_used);
  add(one, "memory_total", found->memory_total);
  add_tenths(one, "celsius", found->celsius);
  add_tenths(one, "mhz", found->mhz);
  add_tenths(one, "most_mhz", found->most_mhz);
  std::map<std::uint64_t, std::string_view> reasons;  // in the order of their bits
  for (const ClockReason& reason : kClockReasons) {
    if (found->is_slowed_by(reason)) reasons.emplace(reason.bit, reason.name);
  }
  for (const auto& [bit, name] : reasons) one["slowed_by"].push_back(name);
  if (found->slowed_by) one.emplace("slowed_by", Json::array());
  add(one, "ecc", found->ecc_errors);
  return one;
}

/// All GPUs or chips of a host, also those without figures.
Json chips(const HostReport& report) {
  Json all = Json::array();
  for (std::size_t index = 0; index < chip_count(report); ++index) all.push_back(chip(report, index));
  return all;
}

Json disks(const HostReport& report) {
  Json all = Json::array();
  for (const Mount& mount : report.mounts) {
    Json one = {{"path", mount.path}, {"type", mount.type}};
    add(one, "size", mount.size);
    add(one, "free", mount.available);
    if (mount.at) one["read_only"] = mount.is_read_only;
    if (mount.is_silent) one["silent"] = true;
    all.push_back(std::move(one));
  }
  return all;
}

Json holders(const devices::DeviceHolders& list) {
  Json all = Json::array();
  for (const devices::DeviceHolder& holder : list.holders) {
    if (devices::is_watcher(holder.name)) continue;
    for (const std::string& device : holder.devices) {
      Json one = {{"device", device}, {"pid", holder.pid}, {"user", holder.user}, {"name", holder.name}};
      if (const std::string run = supervisor::run_of(holder.mark); !run.empty()) one["run"] = run;
      if (const std::string job = supervisor::job_of(holder.mark); !job.empty()) one["job"] = job;
      all.push_back(std::move(one));
    }
  }
  return all;
}

Json odd(const HostRow& row, TimePoint now) {
  Json all = Json::array();
  for (const Odd& each : row.odd) {
    if (each.until) continue;
    std::string_view what = each.what;
    Json one = {{"what", what.substr(0, what.find(':'))}};
    if (each.device) one["device"] = *each.device;
    one["severity"] = static_cast<int>(each.severity);
    one["seconds"] = std::round(std::chrono::duration<double>(now - each.since).count());
    one["text"] = each.text;
    all.push_back(std::move(one));
  }
  return all;
}

Json begin(std::string_view name, output::WallTime time, const hosts::Host& host) {
  Json event = report::new_event(name, time);
  event.update({{"worker", host.worker}, {"host", host.name}});
  return event;
}

}  // namespace

std::string sample_event(output::WallTime time, const Pod& pod, std::size_t host, TimePoint now) {
  const HostRow& row = pod.rows()[host];
  const HostReport& report = row.report;
  Json event = begin("sample", time, pod.hosts()[host]);
  if (!row.has_figures() || !report.now) return report::to_line(event);
  event["uptime"] = report.now->at;
  add_tenths(event, "age", at(row.figures, Figure::age));
  if (report.before) event["interval"] = tenths(report.now->at - report.before->at);
  event["cpu"] = cpu(row);
  event["memory"] = memory(*report.now);
  add_rates(event, "net", net_rates(report), "in", "out");
  add_rates(event, "io", disk_rates(report), "read", "write");
  event["disks"] = disks(report);
  if (chip_count(report) > 0) event[report.tpus > 0 ? "tpus" : "gpus"] = chips(report);
  if (report.holders) {
    event["holders"] = holders(*report.holders);
    event["sees_all"] = report.holders->sees_all;
  }
  if (!row.runs.empty()) event["runs"] = row.runs;
  if (row.clock_offset) event["clock"] = tenths(*row.clock_offset);
  event["odd"] = odd(row, now);
  return report::to_line(event);
}

std::string state_event(output::WallTime time, const Pod& pod, std::size_t host) {
  const HostRow& row = pod.rows()[host];
  Json event = begin("state", time, pod.hosts()[host]);
  event["state"] = word_of(row.state);
  if (row.state == Presence::lost && row.trouble) {
    report::add_failure(event, row.trouble->failure);
    event["message"] = report::reason(row.trouble->failure);
  }
  return report::to_line(event);
}

}  // namespace podrun::top
