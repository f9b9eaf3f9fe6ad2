// SPDX-License-Identifier: Apache-2.0
// `podrun shell`: a sequence of runs on connections that stay open. podrun keeps the directory and the
// variables of each host from line to line; the hosts keep nothing.
#include "podrun/shell/shell_session.hpp"

#include <algorithm>
#include <csignal>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/base/text.hpp"
#include "podrun/base/worker_numbers.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/outcome_words.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/shell/command_reader.hpp"
#include "podrun/shell/history_file.hpp"
#include "podrun/shell/line_editor.hpp"
#include "podrun/shell/line_state.hpp"
#include "podrun/shell/own_commands.hpp"
#include "podrun/shell/shell_hosts.hpp"
#include "podrun/shell/shell_modes.hpp"

namespace podrun::shell {
namespace {

/// A host that was connected gets two attempts, so that a dead one does not keep the others waiting.
constexpr std::size_t kRetries = 1;
constexpr int kLostStatus = 255;
constexpr int kUsageStatus = 2;

constexpr const char* kSilent = "its shell does not say in which directory it is";

TypedLine refuse(std::string why) { return {.answer = {std::move(why)}, .is_refused = true}; }

/// One `podrun shell`, from its first connection to its last line.
class ShellSession {
 public:
  ShellSession(const ShellSpec& spec, const session::SessionSpec& session, const hosts::Probe& probe)
      : spec_(spec),
        view_(spec.view),
        base_(make_base(session)),
        session_(session, probe, session::Session::Connections::kept),
        source_(make_source()),
        reader_(*source_, parse_here),
        hosts_(base_.plan.hosts) {}

  /// The exit status: that of the last line.
  int play() {
    status_ = connect();
    if (connect_interrupted_by_) return status_;
    if (hosts_.active().empty() || (!spec_.is_terminal && hosts_.active().size() < hosts_.size()))
      return status_ == 0 ? kLostStatus : status_;
    status_ = 0;
    while (run_line()) {
      if (hosts_.active().empty()) {  // never on other hosts than the prompt had
        session_.say({"none of the hosts for the next line is connected"});
        return kLostStatus;
      }
      if (!wants_connect_) continue;
      const int status = connect();
      if (connect_interrupted_by_.value_or(SIGINT) != SIGINT) return status;
    }
    return status_;
  }

 private:
  session::RunSpec make_base(const session::SessionSpec& session) const {
    supervisor::Command command{
        .what = supervisor::ShellText{":"}, .environment = spec_.variables, .shell = spec_.shell};
    if (!supervisor::build_command(command).files.empty())
      throw UsageError("shell: the variables are too long together (at most 100 KB)");
    command.environment.clear();  // they are set with what is kept
    session::RunSpec run =
        session::whoever_answers(session, supervisor::build_command(command), spec_.timeout);
    run.command = std::move(command);
    // A script runs on all hosts or ends, as every run without a person who looks at it.
    if (!spec_.is_terminal) run.plan.limits.on_unreachable = run::OnUnreachable::stop;
    run.plan.supervision.run_directory = supervisor::RunDirectory::yes;
    run.work = report::Work::task;  // no hints for a command line
    run.reports_first_failures = true;
    run.enter_lists_hosts = false;
    return run;
  }

  std::unique_ptr<LineSource> make_source() const {
    if (spec_.is_terminal)
      return std::make_unique<LineEditor>(
          EditorPlan{.history_file = history_file(session_.probe()),
                     .completions = completions(),
                     .no_completion = "(Tab completes only the commands that :help lists)"},
          session_.charset());
    return std::make_unique<PlainLines>(spec_.input);
  }

  /// Connects the remaining hosts and reads their state. Returns the exit status of that run.
  int connect() {
    wants_connect_ = false;
    const std::vector<std::size_t> indexes = hosts_.not_connected();
    session::RunSpec run = session::with_hosts(base_, indexes);
    run.plan.supervision.directory = spec_.directory;
    run.plan.supervision.preparations.push_back(need_tools());
    run.plan.command.text = line_text("", spec_.shell);
    run.view = view_;
    run.view.outdir.clear();
    const std::vector<std::string> ids = make_ids(indexes.size());
    for (const std::string& id : ids) run.plan.texts_of_hosts.push_back(host_text(exports(), id));
    ShellRunEnd end;
    StateFilter filter(ids);
    run.filter = &filter;
    OpeningMode mode(run, session_, filter, end);
    const int status = session_.run(run, mode).status;
    std::vector<std::size_t> silent;
    for (std::size_t i = 0; i < indexes.size() && i < end.outcomes.size(); ++i) {
      ShellHost& host = hosts_[indexes[i]];
      const bool has_run = std::holds_alternative<link::Exited>(end.outcomes[i]);
      if (!host.fresh) host.fresh = host.now = end.states[i];
      host.is_connected = has_run && host.fresh;
      const link::Failure* failure = run::failure_of(end.outcomes[i]);
      host.why_not = failure ? report::describe(*failure) : has_run ? kSilent : "interrupted";
      if (has_run && !host.fresh) silent.push_back(host.host.worker);
    }
    if (!silent.empty()) session_.say({fmt::format("[{}] left out: {}", fold_workers(silent), kSilent)});
    connect_interrupted_by_ = end.interrupted_by;
    return status;
  }

  /// False: the session ends.
  bool run_line() {
    const std::vector<std::size_t> indexes = hosts_.active();
    session::RunSpec run = session::with_hosts(base_, indexes);
    run.plan.limits.held = true;
    run.plan.limits.retries = std::min(run.plan.limits.retries, kRetries);
    run.view = view_;
    ShellRunEnd end;
    const std::vector<std::string> ids = make_ids(indexes.size());
    StateFilter filter(ids);
    run.filter = &filter;
    LineMode mode(run, session_, filter,
                  {reader_, spec_.is_terminal, hosts_.prompt(before_, output::separator(session_.charset())),
                   [&](const TypedCommand& command) { return act_on(command, indexes, ids); }},
                  end);
    const int status = session_.run(run, mode).status;
    learn(indexes, end);
    if (end.has_run) {
      status_ = status;
      view_.earlier = output::EarlierOutput::append;  // the next line must not replace this one's output
    }
    return goes_on_after(end, indexes);
  }

  /// Sets the exit status if it does not.
  bool goes_on_after(const ShellRunEnd& end, const std::vector<std::size_t>& indexes) {
    const int signal = end.signal != 0 ? end.signal : end.interrupted_by.value_or(0);
    const bool is_key = end.signal == 0 && (signal == SIGINT || (signal == SIGQUIT && end.has_run));
    if (signal != 0 && !(is_key && spec_.is_terminal)) {
      if (!end.has_run) status_ = 128 + signal;
      return false;
    }
    if (leaves_ || end.is_end_of_input) return false;
    if (spec_.is_terminal) return true;
    if (std::any_of(indexes.begin(), indexes.end(),
                    [this](std::size_t i) { return !hosts_[i].is_connected; })) {
      session_.say({"the shell ends here, since not every host is connected"});
      status_ = kLostStatus;
      return false;
    }
    if (end.has_run && end.is_wrong && status_ != 0) {
      session_.say({"the shell ends here, after a syntax error"});
      return false;
    }
    if (end.has_run)
      return !end.was_quit || status_ == 0;  // a command may handle QUIT, as to print its stacks
    if (end.is_refused) status_ = kUsageStatus;
    return !end.is_refused;
  }

  void learn(const std::vector<std::size_t>& indexes, ShellRunEnd& end) {
    std::vector<std::size_t> silent;
    std::vector<std::size_t> in_doubt;
    // After Ctrl-C before the prompt, what is not ready by then is left out, if anything is.
    const bool gives_up = end.interrupted_by && !end.has_run &&
                          std::find(end.ready.begin(), end.ready.end(), true) != end.ready.end();
    for (std::size_t i = 0; i < indexes.size() && i < end.outcomes.size(); ++i) {
      ShellHost& host = hosts_[indexes[i]];
      const run::HostOutcome& outcome = end.outcomes[i];
      if ((gives_up && !end.ready[i]) || std::holds_alternative<run::Unreachable>(outcome)) {
        const link::Failure* failure = run::failure_of(outcome);
        host.why_not = failure ? report::describe(*failure) : "interrupted";
        host.is_connected = false;
      } else if (end.states[i]) {
        host.now = std::move(end.states[i]);
      } else if (end.has_run && !std::holds_alternative<run::Lost>(outcome) &&
                 !std::holds_alternative<run::NotStarted>(outcome)) {
        (end.in_doubt[i] ? in_doubt : silent).push_back(host.host.worker);
      }
    }
    if (!in_doubt.empty()) {
      session_.say(
          {fmt::format("[{}] the output has more than one report of the state: directory and variables are "
                       "those from before "
                       "this line",
                       fold_workers(in_doubt))});
    }
    if (!silent.empty()) {
      session_.say(
          {fmt::format("[{}] the shell was killed: directory and variables are those from before this line",
                       fold_workers(silent))});
    }
    if (!end.has_run) return;
    before_ = {};
    for (const std::size_t i : indexes) before_.hosts.push_back(hosts_[i].host);
    before_.outcomes = std::move(end.outcomes);
  }

  /// `indexes`: the hosts that wait for it; `ids` of their reports.
  TypedLine act_on(const TypedCommand& command, const std::vector<std::size_t>& indexes,
                   const std::vector<std::string>& ids) {
    const std::string& line = command.text;
    if (command.kind == TypedCommand::Kind::cut)
      return refuse("the input ended within a command: nothing of it has run");
    const bool is_single = line.find('\n') == line.npos;
    const std::string_view words = trim_space(line);
    if (words.empty() || (is_single && words.starts_with('#'))) return {};
    if (is_single && is_own_command(words)) return run_own_command(words);
    if (!command.misplaced.empty()) {
      return refuse(fmt::format("{} must be a line of its own, not part of a paste: nothing has run",
                                command.misplaced));
    }
    if (line.size() > supervisor::kMaxInlineText)
      return refuse(fmt::format("a line of {} bytes is too long (send a script: podrun -s)", line.size()));
    std::set<std::string> names = assigned_names(line);
    for (const std::size_t i : indexes) {
      if (!hosts_[i].now) continue;
      for (const auto& [name, value] : hosts_[i].now->plain) names.insert(name);
    }
    TypedLine typed{.fate = TypedLine::Fate::runs, .text = line_text(line, spec_.shell, names)};
    for (std::size_t i = 0; i < indexes.size(); ++i)
      typed.texts_of_hosts.push_back(host_text(restored(hosts_[indexes[i]]), ids[i]));
    return typed;
  }

  TypedLine run_own_command(std::string_view words) {
    const std::string_view name = take_word(words);
    if (name == "exit" || name == "logout" || name == ":quit" || name == ":exit") {
      leaves_ = true;
      return {.fate = TypedLine::Fate::ends_run};
    }
    if (name == ":help") return {.answer = help()};
    if (name == ":hosts") return {.answer = hosts_.describe()};
    if (name == ":workers" || name == ":worker") {
      try {
        hosts_.select(std::string(trim_space(words)));
      } catch (const UsageError& error) {
        return refuse(fmt::format(":workers: {}", error.what()));
      }
      return {.fate = TypedLine::Fate::ends_run};
    }
    if (name == ":connect") {
      wants_connect_ = !hosts_.not_connected().empty();
      if (!wants_connect_) return {.answer = {"all hosts are connected"}};
      return {.fate = TypedLine::Fate::ends_run};
    }
    return refuse(fmt::format("{}: no such command (:help lists them)", output::escape_controls(name)));
  }

  /// -e and the like.
  std::string exports() const {
    std::string text;
    for (const supervisor::Variable& variable : spec_.variables)
      text += fmt::format("export {}={}; ", variable.name, shell_quote(variable.value));
    return text;
  }

  /// With too many changes for one variable of a process, the directory alone.
  std::string restored(const ShellHost& host) const {
    if (!host.fresh || !host.now) return exports();
    std::string text = exports() + restore(*host.fresh, *host.now);
    if (text.size() <= supervisor::kMaxInlineText) return text;
    KeptState without = *host.now;
    without.variables = host.fresh->variables;
    without.plain.clear();
    return exports() + restore(*host.fresh, without) + "echo podrun: too many variables >&2; ";
  }

  const ShellSpec& spec_;
  session::View view_;
  const session::RunSpec base_;
  session::Session session_;
  std::unique_ptr<LineSource> source_;
  CommandReader reader_;
  ShellHosts hosts_;
  LineEnd before_;
  int status_ = 0;
  bool leaves_ = false;
  bool wants_connect_ = false;
  std::optional<int> connect_interrupted_by_ = std::nullopt;
};

}  // namespace

int run_shell(const ShellSpec& spec, const session::SessionSpec& session, const hosts::Probe& probe) {
  return ShellSession(spec, session, probe).play();
}

}  // namespace podrun::shell
