// SPDX-License-Identifier: Apache-2.0
// The survey of the hosts between two tries: a run of settle.sh on those that are not known to be ready.
#include "podrun/restarts/host_survey.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/restarts/scripts.hpp"
#include "podrun/session/ask_hosts.hpp"

namespace podrun::restarts {
namespace {

using Clock = std::chrono::steady_clock;
using run::TimePoint;

/// For the survey itself, beyond the grace period that it may need to end processes.
constexpr std::chrono::seconds kTimeToLook{60};

bool is_same_place(const hosts::Host& a, const hosts::Host& b) {
  return hosts::address_of(a) == hosts::address_of(b) && a.port == b.port && a.user == b.user &&
         a.kind == b.kind;
}

}  // namespace

HostSurvey::HostSurvey(session::Session& session, std::function<std::vector<hosts::Host>()> find_hosts)
    : session_(session),
      session_lives_(session.lender()),
      find_hosts_(std::move(find_hosts)),
      known_(session.spec().hosts.size()) {}

std::vector<std::size_t> HostSurvey::all_hosts() const {
  std::vector<std::size_t> all(hosts().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::optional<int> HostSurvey::begin() {
  const std::optional<int> signal = ask(all_hosts(), "");
  at_first_ = known_ = seen_;
  awaited_.clear();  // the first try says itself what keeps it from starting
  return signal;
}

std::optional<int> HostSurvey::make(const std::string& run_id, std::vector<std::string>& notes) {
  std::vector<std::size_t> which = all_hosts();
  const bool waited = !awaited_.empty();
  if (waited) {
    find_hosts_again(notes);
    which.clear();
    for (const Awaited& each : awaited_) which.push_back(each.host);
  } else {
    seen_.assign(hosts().size(), {});
  }
  std::optional<int> signal = ask(which, run_id);
  // A host that answered in an earlier round may have been rebooted since.
  if (waited && awaited_.empty() && which.size() < hosts().size() && !signal)
    signal = ask(all_hosts(), run_id);
  return signal;
}

std::vector<HostAfterTry> HostSurvey::states() const {
  std::vector<HostAfterTry> states;
  for (std::size_t host = 0; host < seen_.size(); ++host)
    states.push_back(compare(known_[host], seen_[host]));
  return states;
}

/// Sets awaited_, and what is seen of those that answer. The signal that ended it, if any.
std::optional<int> HostSurvey::ask(const std::vector<std::size_t>& which, const std::string& run_id) {
  const std::chrono::seconds grace = session_.spec().limits.grace;
  session::RunSpec run = session::whoever_answers(
      session_.spec(),
      supervisor::build_command(supervisor::script_command(
          kSettleScript,
          SettleWords{.mark = run_id.empty() ? "-" : run_id, .grace = std::to_string(grace.count())}.list())),
      grace + kTimeToLook);
  run.plan.limits.retries = 0;
  run.plan.limits.patience = session::kPatience;
  run.enter_lists_hosts = false;
  run = session::with_hosts(std::move(run), which);
  const session::Answers answers = session::collect(session_, run);
  if (answers.result.interrupted_by) return answers.result.interrupted_by;
  const TimePoint now = Clock::now();
  std::vector<Awaited> awaited;
  seen_.resize(hosts().size());
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::size_t host = which[i];
    SettledHost found = parse_settled_host(answers.texts[i], run.plan.run_id);
    if (!at_first_.empty()) forget_sharers(found, at_first_[host]);
    if (found.is_complete) {
      missing_since_.erase(host);
    } else {
      missing_since_.try_emplace(host, now);
    }
    if (!found.is_complete || !found.obstacles.empty())
      awaited.push_back({host, answers.result.outcomes[i], found.obstacles});
    seen_[host] = std::move(found);
  }
  awaited_ = std::move(awaited);
  return std::nullopt;
}

/// A recreated host may have another address or another key, which move_to() reads.
void HostSurvey::find_hosts_again(std::vector<std::string>& notes) {
  if (missing_since_.empty()) return;
  std::string problem;
  try {
    const std::vector<hosts::Host> found = find_hosts_ ? find_hosts_() : hosts();
    if (found.size() == hosts().size()) {
      move_missing(found, notes);
    } else {
      problem = fmt::format("the list of hosts has {}, the command runs on {}", found.size(), hosts().size());
    }
  } catch (const UsageError& error) {
    problem = fmt::format("the list of hosts cannot be read again: {}", error.what());
  }
  if (problem != list_problem_ && !problem.empty()) notes.push_back(problem);
  list_problem_ = problem;
}

/// The command may still run where a host was, until its supervisor has missed podrun for long enough.
void HostSurvey::move_missing(const std::vector<hosts::Host>& found, std::vector<std::string>& notes) {
  expect(found.size() == hosts().size(), "hosts are moved by a list of all of them");
  const session::SessionSpec& spec = session_.spec();
  const TimePoint::duration safe = 2 * spec.orphan_timeout + spec.limits.grace;
  std::vector<hosts::Host> moved = hosts();
  for (std::size_t host = 0; host < moved.size(); ++host) {
    const auto missing = missing_since_.find(host);
    if (missing == missing_since_.end() || is_same_place(moved[host], found[host])) continue;
    if (Clock::now() - missing->second < safe) continue;
    notes.push_back(fmt::format("[{}] is at {} now", found[host].worker, hosts::address_of(found[host])));
    moved[host] = found[host];
    known_[host].machine = "-";  // another one
    known_[host].boot = "-";
  }
  const auto refuses_key = [](const Awaited& awaited) {
    const link::Failure* const failure = run::failure_of(awaited.outcome);
    return failure && failure->stage == link::Stage::host_key;
  };
  // Connections are lost with it.
  if (moved != hosts() || std::any_of(awaited_.begin(), awaited_.end(), refuses_key)) session_.move_to(moved);
}

}  // namespace podrun::restarts
