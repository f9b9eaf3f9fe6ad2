// SPDX-License-Identifier: Apache-2.0
#include "podrun/run/json_events.hpp"

#include <nlohmann/json.hpp>

#include "podrun/remote/environment.hpp"

namespace podrun {
namespace {

using Json = nlohmann::ordered_json;

Json new_event(const char* name, WallTime time) {
  return {{"v", 1}, {"event", name}, {"time", format_utc(time)}};
}

std::string to_line(const Json& event) { return event.dump(-1, ' ', true, Json::error_handler_t::replace); }

double to_seconds(std::chrono::milliseconds time) { return std::chrono::duration<double>(time).count(); }

struct AddCommand {
  Json& event;

  void operator()(const Words& words) const { event["command"] = words.words; }
  void operator()(const ShellText& shell) const { event["shell"] = hide_values(shell.text); }
  void operator()(const Script& script) const {
    event["script"] = script.name;
    event["arguments"] = script.arguments;
  }
};

void add_failure(Json& event, const Failure& failure) {
  if (!failure.stage.empty()) event["stage"] = failure.stage;
  event["message"] = failure.what;
}

struct AddFacts {
  Json& event;

  void operator()(const NotStarted&) const {}
  void operator()(const Stopped&) const {}
  void operator()(const Exited& exited) const { event["status"] = exited.status; }
  void operator()(const Signaled& signaled) const { event["signal"] = signaled.signal; }
  void operator()(const TimedOut& timed_out) const { event["limit_seconds"] = timed_out.limit.count(); }
  void operator()(const Lost& lost) const { add_failure(event, lost.failure); }
  void operator()(const Unreachable& unreachable) const {
    add_failure(event, unreachable.failure);
    event["attempts"] = unreachable.attempts;
  }
};

/// In the order of HostOutcome.
constexpr const char* kOutcomes[] = {"not_started", "exited",      "signaled", "timed_out",
                                     "lost",        "unreachable", "stopped"};
static_assert(std::size(kOutcomes) == std::variant_size_v<HostOutcome>);

}  // namespace

std::string start_event(WallTime time, const std::string& run_id, const Command& command,
                        const std::vector<Host>& hosts) {
  Json event = new_event("start", time);
  event["run_id"] = run_id;
  std::visit(AddCommand{event}, command.what);
  event["hosts"] = Json::array();
  for (const Host& host : hosts) {
    Json entry{{"rank", host.label}, {"host", host.name}};
    if (!host.user.empty()) entry["user"] = host.user;
    if (host.port != 0) entry["port"] = host.port;
    event["hosts"].push_back(std::move(entry));
  }
  return to_line(event);
}

std::string exit_event(WallTime time, const Host& host, const HostOutcome& outcome,
                       std::chrono::milliseconds since_start) {
  Json event = new_event("exit", time);
  event["rank"] = host.label;
  event["host"] = host.name;
  event["outcome"] = kOutcomes[outcome.index()];
  std::visit(AddFacts{event}, outcome);
  event["seconds"] = to_seconds(since_start);
  return to_line(event);
}

std::string summary_event(WallTime time, const std::vector<Host>& hosts, const RunEnd& end,
                          std::chrono::milliseconds since_start) {
  Json counts;
  for (const char* outcome : kOutcomes) counts[outcome] = 0;
  Json ok = Json::array();
  Json failed = Json::array();
  for (std::size_t host = 0; host < end.outcomes.size(); ++host) {
    const HostOutcome& outcome = end.outcomes[host];
    Json& count = counts[kOutcomes[outcome.index()]];
    count = count.get<std::size_t>() + 1;
    if (outcome == HostOutcome(Exited{0})) ok.push_back(hosts[host].label);
    if (is_failure(outcome)) failed.push_back(hosts[host].label);
  }
  Json event = new_event("summary", time);
  event["status"] = end.status;
  event["counts"] = std::move(counts);
  event["ok"] = std::move(ok);
  event["failed"] = std::move(failed);
  if (end.culprit) event["culprit"] = hosts[*end.culprit].label;
  if (end.interrupted_by) event["interrupted_by"] = *end.interrupted_by;
  event["seconds"] = to_seconds(since_start);
  return to_line(event);
}

}  // namespace podrun
