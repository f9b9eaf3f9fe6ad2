// SPDX-License-Identifier: Apache-2.0
// The events of `--json` that are not lines of output.
#include "podrun/report/json_events.hpp"

#include <variant>

#include <nlohmann/json.hpp>

#include "podrun/base/text.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/supervisor/environment.hpp"

namespace podrun::report {

nlohmann::ordered_json new_event(std::string_view name, output::WallTime time) {
  return {{"v", 1}, {"event", name}, {"time", output::format_utc(time)}};
}

std::string to_line(const nlohmann::ordered_json& event) {
  return event.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {

using Json = nlohmann::ordered_json;

Json new_event(std::string_view name, output::WallTime time, const hosts::Host& host) {
  Json event = report::new_event(name, time);
  event.update({{"worker", host.worker}, {"host", host.name}});
  return event;
}

/// A whole number where it is one.
Json seconds_of(std::chrono::milliseconds time) {
  if (time % std::chrono::seconds(1) == time.zero()) return time / std::chrono::seconds(1);
  return std::chrono::duration<double>(time).count();
}

std::string to_line(Json& event, std::chrono::milliseconds since_start) {
  event["seconds"] = std::chrono::duration<double>(since_start).count();
  return report::to_line(event);
}

struct AddCommand {
  Json& event;

  void operator()(const supervisor::Words& words) const { event["command"] = words.words; }
  void operator()(const supervisor::ShellText& shell) const {
    event["shell"] = supervisor::hide_values(shell.text);
  }
  void operator()(const supervisor::Script& script) const {
    event["script"] = script.name;
    event["arguments"] = script.arguments;
  }
};

bool has_no_words(const supervisor::Command& command) {
  const auto* words = std::get_if<supervisor::Words>(&command.what);
  return words && words->words.empty();
}

void add_failure_and_message(Json& event, const link::Failure& failure) {
  add_failure(event, failure);
  event["message"] = reason(failure);
}

struct AddFacts {
  Json& event;

  void operator()(const run::NotStarted&) const {}
  void operator()(const run::Stopped&) const {}
  void operator()(const link::Exited& exited) const { event["status"] = exited.status; }
  void operator()(const link::Signaled& signaled) const { event["signal"] = signaled.signal; }
  void operator()(const run::TimedOut& timed_out) const {
    event["limit_seconds"] = seconds_of(timed_out.limit);
  }
  void operator()(const run::Stalled& stalled) const { event["silent_seconds"] = stalled.silent.count(); }
  void operator()(const run::Lost& lost) const { add_failure_and_message(event, lost.failure); }
  void operator()(const run::Unreachable& unreachable) const {
    add_failure_and_message(event, unreachable.failure);
    event["attempts"] = unreachable.attempts;
  }
};

}  // namespace

void add_failure(nlohmann::ordered_json& object, const link::Failure& failure) {
  if (failure.stage != link::Stage::none) object["stage"] = identifier(failure.stage);
  object["cause"] = identifier(failure.cause);
  if (!failure.jump_hosts.empty()) object["jump_host"] = failure.jump_hosts.back();
}

void add_failure(nlohmann::ordered_json& object, const run::HostOutcome& outcome) {
  if (const auto* unreachable = std::get_if<run::Unreachable>(&outcome))
    add_failure(object, unreachable->failure);
  object["message"] = describe(outcome);
}

std::string start_event(output::WallTime time, const std::vector<hosts::Host>& hosts, const RunStart& start) {
  Json event = new_event("start", time);
  event["run_id"] = start.run_id;
  if (start.number) {
    event["job_id"] = start.number->job_id;
    event["restart"] = start.number->restart;
  }
  if (!start.job.empty()) event["job"] = start.job;
  if (start.files) {
    event["files"] = {{"sources", start.files->sources}, {"target", start.files->target}};
    if (start.files->is_counted) {
      event["files"]["count"] = start.files->count;
      event["files"]["bytes"] = start.files->bytes;
      event["files"]["ignored"] = start.files->ignored;
    }
  } else if (start.job.empty() || !has_no_words(start.command)) {
    std::visit(AddCommand{event}, start.command.what);
  }
  event["hosts"] = Json::array();
  for (const hosts::Host& host : hosts) {
    Json entry{{"worker", host.worker}, {"host", host.name}};
    if (!host.user.empty()) entry["user"] = host.user;
    if (host.port != 0) entry["port"] = host.port;
    event["hosts"].push_back(std::move(entry));
  }
  return to_line(event);
}

std::string started_event(output::WallTime time, const std::vector<std::size_t>& workers,
                          std::chrono::milliseconds since_start) {
  Json event = new_event("started", time);
  event["workers"] = workers;
  return to_line(event, since_start);
}

std::string error_event(output::WallTime time, int status, std::string_view message) {
  Json event = new_event("error", time);
  event["status"] = status;
  event["message"] = message;
  return to_line(event);
}

std::string sent_event(output::WallTime time, const hosts::Host& host, const FilesSent& sent,
                       std::chrono::milliseconds since_start) {
  Json event = new_event("sent", time, host);
  event["files"] = sent.files;
  event["bytes"] = sent.bytes;
  event["deleted"] = sent.deleted;
  event["links_replaced"] = sent.links_replaced;
  if (sent.shared_with) event["shared_with"] = *sent.shared_with;
  if (sent.from) event["from"] = *sent.from;
  if (!sent.from_here.empty()) event["from_here"] = sent.from_here;
  return to_line(event, since_start);
}

std::string received_event(output::WallTime time, const hosts::Host& host, const FilesReceived& received,
                           std::chrono::milliseconds since_start) {
  Json event = new_event("received", time, host);
  event["directory"] = received.directory;
  event["files"] = received.files;
  event["bytes"] = received.bytes;
  event["unchanged"] = received.unchanged;
  return to_line(event, since_start);
}

std::string output_open_event(output::WallTime time, const hosts::Host& host,
                              const supervisor::Holders& holders, bool waits,
                              std::chrono::milliseconds since_start) {
  Json event = new_event("output_open", time, host);
  event["processes"] = Json::array();
  for (const supervisor::Holder& holder : holders.named)
    event["processes"].push_back({{"pid", to_number(holder.pid).value_or(0)}, {"name", holder.name}});
  if (holders.more > 0) event["more"] = holders.more;
  event["waits"] = waits;
  return to_line(event, since_start);
}

std::string exit_event(output::WallTime time, const hosts::Host& host, const run::HostOutcome& outcome,
                       std::chrono::milliseconds since_start) {
  Json event = new_event("exit", time, host);
  event["outcome"] = identifier(outcome);
  std::visit(AddFacts{event}, outcome);
  return to_line(event, since_start);
}

std::string summary_event(output::WallTime time, const std::vector<hosts::Host>& hosts, const RunEnd& end,
                          std::chrono::milliseconds since_start) {
  Json counts;
  for (const std::string_view outcome : outcome_identifiers()) counts[std::string(outcome)] = 0;
  Json ok = Json::array();
  Json failed = Json::array();
  for (std::size_t host = 0; host < end.outcomes.size(); ++host) {
    const run::HostOutcome& outcome = end.outcomes[host];
    Json& count = counts[std::string(identifier(outcome))];
    count = count.get<std::size_t>() + 1;
    if (run::has_succeeded(outcome)) ok.push_back(hosts[host].worker);
    if (run::is_failure(outcome)) failed.push_back(hosts[host].worker);
  }
  Json event = new_event("summary", time);
  event["status"] = end.status;
  event["counts"] = std::move(counts);
  event["ok"] = std::move(ok);
  event["failed"] = std::move(failed);
  if (end.culprit) event["culprit"] = hosts[*end.culprit].worker;
  if (end.interrupted_by) event["interrupted_by"] = *end.interrupted_by;
  if (!end.is_final) event["final"] = false;
  return to_line(event, since_start);
}

}  // namespace podrun::report
