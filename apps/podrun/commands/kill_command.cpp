// SPDX-License-Identifier: Apache-2.0
// `podrun kill`: one run lists the processes that have accelerators open. The user is asked. A second run
// stops them on all hosts at the same moment, and looks again.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/devices/device_holders.hpp"
#include "podrun/kill/kill_choice.hpp"
#include "podrun/kill/kill_report.hpp"
#include "podrun/kill/kill_wait.hpp"
#include "podrun/kill/scripts.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/question.hpp"
#include "podrun/session/ask_hosts.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

using kill::ListedHost;

/// After TERM, for a program to close its accelerators: libtpu may be slow.
constexpr std::chrono::seconds kTimeToClose{30};
constexpr std::chrono::seconds kTimeToAnswer{60};
constexpr int kBusyStatus = 1;

/// sh text that says which processes of the host stop_holders.sh is to stop.
std::string name_victims(const ListedHost& listed) {
  std::string pids;
  for (const kill::Choice& choice : listed.choices) {
    if (choice.why_kept.empty()) pids += fmt::format(" {}:{}", choice.holder.pid, choice.holder.start);
  }
  return fmt::format("export PODRUN_VICTIMS='{}'; ", pids);
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
      kill::kFreeScript, kill::FreeWords{.grace = std::to_string(time_to_close.count())}.list()));
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
    for (const kill::Choice& choice : each.choices) processes += choice.why_kept.empty() ? 1 : 0;
    hosts += each.has_victims() ? 1 : 0;
  }
  return fmt::format("Stop {} process{} on {} (yes/no)? ", processes, processes == 1 ? "" : "es",
                     count_hosts(hosts));
}

/// The beginning of a run's id. A short one could mean any run.
std::string parse_run_id(const std::string& text) {
  constexpr std::size_t kLeast = 8;
  if (text.size() < kLeast || text.find_first_not_of("0123456789abcdef") != text.npos)
    throw UsageError(
        fmt::format("bad id \"{}\" (expected at least {} of its digits, 0-9 and a-f)", text, kLeast));
  return text;
}

class KillCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun kill"};
    rows.flag(cli::OptionSet::own, "-y,--yes", "Do not ask", cli::into(yes_));
    rows.flag(cli::OptionSet::own, "--all-users", "Stop processes of other users too, through sudo",
              cli::into(request_.all_users));
    rows.value(cli::OptionSet::own, "--of-user USER", "Only processes of this user on the hosts",
               cli::not_empty(request_.user, "a user of the hosts"));
    rows.list(cli::OptionSet::own, "--pid PID", "Only the process PID; may be repeated",
              [this](const std::string& text) { request_.pids.push_back(cli::parse_count(text)); });
    rows.value(cli::OptionSet::own, "--match TEXT", "Only processes whose command line contains TEXT",
               cli::not_empty(request_.match, "a part of a command"));
    rows.value(cli::OptionSet::own, "--older-than TIME", "Only processes that started at least TIME ago",
               cli::into(request_.older_than, cli::parse_positive_duration));
    rows.list(cli::OptionSet::own, "--run ID", "Include processes of a running podrun, by run id",
              [this](const std::string& text) { request_.runs.push_back(parse_run_id(text)); });
    rows.list(cli::OptionSet::own, "--job NAME", "Include processes of a running job",
              cli::into(request_.jobs));
  }

  void check(cli::Options& options, const cli::OptionTable& table) override {
    if (options.json && !options.dry_run && !yes_)
      throw UsageError("kill: with --json no question is asked (add -y, or --dry-run)");
    if (table.is_on_command_line("grace")) time_to_close_ = options.limits.grace;
  }

  int run(const cli::Context& context) override {
    const session::SessionSpec spec = context.session_spec();
    const session::RunSpec run = session::quick_answers(
        spec, supervisor::build_command(supervisor::script_command(kill::kListScript, {})), kTimeToAnswer);
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    const auto text_of = [&](const session::Answers& so_far) {
      return describe(run.plan.hosts, read(run.plan, so_far), session.charset());
    };
    session::Answers first =
        session::ask_hosts(session, run, context.options.json ? session::ShowAnswers() : text_of);
    if (first.result.interrupted_by) return first.result.status;
    const std::vector<ListedHost> before = read(run.plan, first);
    name_silent(run.plan, before, first.result, session);
    const int printed = print_choices(run.plan.hosts, before, context, session, first);
    if (context.options.dry_run && !context.options.json && !before.empty() &&
        std::ranges::none_of(before, [](const ListedHost& each) { return !each.choices.empty(); }))
      session.say(
          {kill::describe_result(run.plan.hosts, before, before, output::separator(session.charset()))});
    if (before.empty() || context.options.dry_run)
      return std::max({first.result.status, printed,
                       print_json(run.plan.hosts, first.result.outcomes, before, {}, context)});
    if (!yes_ && std::ranges::any_of(before, &ListedHost::has_victims)) {
      if (!output::can_ask_on_terminal())
        throw UsageError("kill: there is no terminal to ask on (-y stops the processes without a question)");
      const session::Session::Answer answer = session.ask_yes_or_no(make_question(before));
      if (answer.signal != 0) return 128 + answer.signal;
      if (!answer.is_yes) return std::max(first.result.status, kBusyStatus);
    }
    return std::max(printed, free(session, run, first.result, before, context));
  }

 private:
  /// Parses complete answers.
  std::vector<ListedHost> read(const run::RunPlan& plan, const session::Answers& answers) const {
    std::vector<ListedHost> listed;
    for (std::size_t host = 0; host < answers.texts.size(); ++host) {
      devices::DeviceHolders list =
          devices::parse_device_holders(answers.texts[host], "podrun-kill " + plan.run_id);
      if (!list.is_complete) continue;
      std::vector<kill::Choice> choices = kill::choose(list, request_);
      listed.push_back({host, std::move(list), std::move(choices)});
    }
    return listed;
  }

  /// Names hosts whose answer was cut off.
  static void name_silent(const run::RunPlan& plan, const std::vector<ListedHost>& listed,
                          session::RunResult& result, session::Session& session) {
    std::vector<std::size_t> silent;
    for (std::size_t host = 0; host < result.outcomes.size(); ++host) {
      const bool has_list = std::ranges::any_of(listed, [&](const auto& each) { return each.host == host; });
      if (!has_list && run::has_succeeded(result.outcomes[host])) silent.push_back(host);
    }
    if (silent.empty()) return;
    session.say({output::fold_hosts(plan.hosts, silent) + " sent no whole list of processes"});
    result.status = std::max(result.status, kBusyStatus);
  }

  int free(session::Session& session, const session::RunSpec& list_run, const session::RunResult& first,
           const std::vector<ListedHost>& before, const cli::Context& context) const {
    const std::vector<hosts::Host>& hosts = list_run.plan.hosts;
    session::RunSpec run = make_free_run(list_run, before, time_to_close_);
    const std::string_view separator = output::separator(session.charset());
    run.own_words = [&](const run::Status& status, run::TimePoint now) {
      return kill::describe_wait(before, time_to_close_, status, now, separator);
    };
    session::Answers second = session::ask_hosts(session, run);
    std::vector<ListedHost> after = read(run.plan, second);
    name_silent(run.plan, after, second.result, session);
    std::vector<run::HostOutcome> outcomes = first.outcomes;
    for (std::size_t i = 0; i < second.result.outcomes.size(); ++i)
      outcomes[before[i].host] = second.result.outcomes[i];
    for (ListedHost& each : after) each.host = before[each.host].host;  // the index among all hosts
    int printed = print_json(hosts, outcomes, before, after, context);
    const std::string said =
        context.options.json ? "" : kill::describe_result(hosts, before, after, separator);
    if (!said.empty()) printed = std::max(printed, context.answer(said + '\n'));
    if (second.result.interrupted_by) return second.result.status;
    const bool is_busy = std::any_of(after.begin(), after.end(), kill::is_busy);
    return std::max({first.status, second.result.status, printed, is_busy ? kBusyStatus : 0});
  }

  static std::string describe(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& listed,
                              output::Charset charset) {
    std::string text;
    for (const std::string& line : kill::describe_choices(hosts, listed, output::separator(charset)))
      text += line + '\n';
    return text;
  }

  /// The status: 1 if they could not be printed.
  static int print_choices(const std::vector<hosts::Host>& hosts, const std::vector<ListedHost>& listed,
                           const cli::Context& context, session::Session& session,
                           const session::Answers& answers) {
    if (context.options.json) return 0;
    const int status = session::show_answers(session, answers, describe(hosts, listed, session.charset()));
    std::vector<std::size_t> blind;
    for (const ListedHost& each : listed) {
      if (!each.list.sees_all && !each.list.devices.empty()) blind.push_back(each.host);
    }
    if (!blind.empty()) {
      context.say({output::fold_hosts(hosts, blind) +
                   " processes of other users cannot be seen (podrun is not root there, and sudo -n fails)"});
    }
    return status;
  }

  static int print_json(const std::vector<hosts::Host>& hosts, const std::vector<run::HostOutcome>& outcomes,
                        const std::vector<ListedHost>& before, const std::vector<ListedHost>& after,
                        const cli::Context& context) {
    if (!context.options.json) return 0;
    const auto now = std::chrono::system_clock::now();
    return context.answer(kill::kill_json(now, hosts, outcomes, before, after) + '\n');
  }

  kill::KillRequest request_;
  std::chrono::seconds time_to_close_ = kTimeToClose;
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> make_kill_command() { return std::make_unique<KillCommand>(); }

}  // namespace podrun::commands
