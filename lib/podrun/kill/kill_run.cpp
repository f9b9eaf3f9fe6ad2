// SPDX-License-Identifier: Apache-2.0
// `podrun kill`: one run lists the processes that have accelerators open. The user is asked. A second run
// stops them on all hosts at the same moment, and looks again.
#include "podrun/kill/kill_run.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/answer.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/devices/device_holders.hpp"
#include "podrun/kill/kill_wait.hpp"
#include "podrun/kill/scripts.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/question.hpp"

namespace podrun::kill {
namespace {

constexpr std::chrono::seconds kTimeToAnswer{60};
constexpr int kBusyStatus = 1;

/// sh text that says which processes of the host stop_holders.sh is to stop.
std::string name_victims(const ListedHost& listed) {
  std::string pids;
  for (const Choice& choice : listed.choices) {
    if (choice.why_kept.empty()) pids += fmt::format(" {}:{}", choice.holder.pid, choice.holder.start);
  }
  return fmt::format("export PODRUN_VICTIMS='{}'; ", pids);
}

session::RunSpec make_list_run(const session::SessionSpec& session) {
  return session::quick_answers(
      session, supervisor::build_command(supervisor::script_command(kListScript, {})), kTimeToAnswer);
}

/// For the hosts that have answered.
session::RunSpec make_free_run(const session::RunSpec& list_run, const std::vector<ListedHost>& listed,
                               std::chrono::seconds time_to_close) {
  std::vector<std::size_t> answered;
  std::vector<std::string> victims;
  for (const ListedHost& each : listed) {
    answered.push_back(each.host);
    victims.push_back(name_victims(each));
  }
  session::RunSpec run = session::with_hosts(list_run, answered);
  run.plan.command = supervisor::build_command(supervisor::script_command(
      kFreeScript, FreeWords{.grace = std::to_string(time_to_close.count())}.list()));
  run.plan.texts_of_hosts = std::move(victims);
  run.plan.limits.timeout = time_to_close + kTimeToAnswer;
  run.plan.limits.late_after.reset();  // all send TERM at the same moment
  return run;
}

/// `Stop 32 processes on 8 hosts (yes/no)? `
std::string make_question(const std::vector<ListedHost>& listed) {
  std::size_t processes = 0;
  std::size_t hosts = 0;
  for (const ListedHost& each : listed) {
    for (const Choice& choice : each.choices) processes += choice.why_kept.empty() ? 1 : 0;
    hosts += each.has_victims() ? 1 : 0;
  }
  return fmt::format("Stop {} process{} on {} (yes/no)? ", processes, processes == 1 ? "" : "es",
                     count_hosts(hosts));
}

}  // namespace

KillRun::KillRun(session::Session& session, KillPlan plan)
    : session_(session),
      session_lives_(session.lender()),
      plan_(std::move(plan)),
      list_run_(make_list_run(session.spec())) {}

const session::Answers& KillRun::list(bool shows_early) {
  listing_.call("KillRun::list() is called once");
  const auto text_of = [this](const session::Answers& so_far) {
    return describe(read(list_run_.plan, so_far));
  };
  first_ = session::ask_hosts(session_, list_run_,
                              shows_early ? session::ShowAnswers(text_of) : session::ShowAnswers());
  before_ = read(list_run_.plan, first_);
  outcomes_ = first_.result.outcomes;
  status_ = first_.result.status;
  interrupted_by_ = first_.result.interrupted_by;
  if (!interrupted_by_) name_silent(list_run_.plan, before_, first_.result);
  return first_;
}

void KillRun::stop() {
  expect(!outcomes_.empty(), "KillRun::stop() comes after list()");
  session::RunSpec run = make_free_run(list_run_, before_, plan_.time_to_close);
  run.own_words = [this](const run::Status& status, run::TimePoint now) {
    return describe_wait(before_, plan_.time_to_close, status, now, output::separator(session_.charset()));
  };
  const session::Answers second = session::ask_hosts(session_, run);
  after_ = read(run.plan, second);
  name_silent(run.plan, after_, second.result);
  for (std::size_t i = 0; i < second.result.outcomes.size(); ++i)
    outcomes_[before_[i].host] = second.result.outcomes[i];
  for (ListedHost& each : after_) each.host = before_[each.host].host;  // the index among all hosts
  interrupted_by_ = second.result.interrupted_by;
  const bool is_any_busy = std::ranges::any_of(after_, kill::is_busy);
  status_ = interrupted_by_ ? second.result.status
                            : std::max({status_, second.result.status, is_any_busy ? kBusyStatus : 0});
}

bool KillRun::has_victims() const { return std::ranges::any_of(before_, &ListedHost::has_victims); }

std::string KillRun::describe(const std::vector<ListedHost>& listed) const {
  std::string text;
  for (const std::string& line : describe_choices(hosts(), listed, output::separator(session_.charset())))
    text += line + '\n';
  return text;
}

/// Parses complete answers.
std::vector<ListedHost> KillRun::read(const run::RunPlan& plan, const session::Answers& answers) const {
  std::vector<ListedHost> listed;
  for (std::size_t host = 0; host < answers.texts.size(); ++host) {
    auto list = read_answer<devices::DeviceHolders>(answers.texts[host], plan.run_id);
    if (!list.is_complete) continue;
    std::vector<Choice> choices = choose(list, plan_.request, session_.spec().called);
    listed.push_back({host, std::move(list), std::move(choices)});
  }
  return listed;
}

/// Names hosts whose answer was cut off.
void KillRun::name_silent(const run::RunPlan& plan, const std::vector<ListedHost>& listed,
                          const session::RunResult& result) {
  std::vector<std::size_t> silent;
  for (std::size_t host = 0; host < result.outcomes.size(); ++host) {
    const bool has_list = std::ranges::any_of(listed, [&](const auto& each) { return each.host == host; });
    if (!has_list && run::has_succeeded(result.outcomes[host])) silent.push_back(host);
  }
  if (silent.empty()) return;
  session_.say({output::fold_hosts(plan.hosts, silent) + " sent no whole list of processes"});
  status_ = std::max(status_, kBusyStatus);
}

namespace {

/// The status: 1 if they could not be printed.
int print_choices(session::Session& session, const KillRun& kill, const session::Answers& answers) {
  const int status = session::show_answers(session, answers, kill.describe(kill.before()));
  std::vector<std::size_t> blind;
  for (const ListedHost& each : kill.before()) {
    if (!each.list.sees_all && !each.list.devices.empty()) blind.push_back(each.host);
  }
  if (!blind.empty()) {
    session.say({output::fold_hosts(kill.hosts(), blind) +
                 " processes of other users cannot be seen (podrun is not root there, and sudo -n fails)"});
  }
  return status;
}

int print_json(session::Session& session, const KillRun& kill) {
  return session.answer(kill_json(std::chrono::system_clock::now(), kill.hosts(), kill.outcomes(),
                                  kill.before(), kill.after()) +
                        '\n');
}

/// The exit status of a user who does not want it; none: podrun goes on.
std::optional<int> ask(session::Session& session, const KillRun& kill) {
  if (!output::can_ask_on_terminal())
    throw UsageError("kill: there is no terminal to ask on (-y stops the processes without a question)");
  const session::Session::Answer answer = session.ask_yes_or_no(make_question(kill.before()));
  if (answer.signal != 0) return 128 + answer.signal;
  if (!answer.is_yes) return std::max(kill.status(), kBusyStatus);
  return std::nullopt;
}

}  // namespace

int run_kill(session::Session& session, const KillPlan& plan, const KillView& view) {
  KillRun kill(session, plan);
  const std::string_view separator = output::separator(session.charset());
  const session::Answers& answers = kill.list(!view.json);
  if (kill.interrupted_by()) return kill.status();
  int printed = view.json ? 0 : print_choices(session, kill, answers);
  if (kill.before().empty() || view.only_lists) {
    if (view.json) printed = print_json(session, kill);
    const bool is_none_open =
        std::ranges::all_of(kill.before(), [](const ListedHost& each) { return each.choices.empty(); });
    if (!view.json && is_none_open && !kill.before().empty())
      session.say({describe_result(kill.hosts(), kill.before(), kill.before(), separator)});
    return std::max(kill.status(), printed);
  }
  if (view.asks && kill.has_victims()) {
    if (const std::optional<int> refused = ask(session, kill)) return *refused;
  }
  kill.stop();
  const std::string said =
      view.json ? "" : describe_result(kill.hosts(), kill.before(), kill.after(), separator);
  if (view.json) printed = print_json(session, kill);
  if (!said.empty()) printed = std::max(printed, session.answer(said + '\n'));
  return kill.interrupted_by() ? kill.status() : std::max(kill.status(), printed);
}

}  // namespace podrun::kill
