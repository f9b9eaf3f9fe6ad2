// SPDX-License-Identifier: Apache-2.0
// The runs of `podrun shell`. The run of a line starts before the line is known: its hosts are ready, and
// wait at the barrier while the user types on a thread of its own.
#include "podrun/shell/shell_modes.hpp"

#include <csignal>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>

#include "podrun/base/thread.hpp"
#include "podrun/report/hint.hpp"
#include "podrun/report/summary.hpp"

namespace podrun::shell {
namespace {

constexpr std::chrono::seconds kLatePress{1};

void learn(ShellRunEnd& end, const run::RunPolicy& policy, const StateFilter& filter) {
  end.outcomes = policy.outcomes();
  end.interrupted_by = policy.interrupted_by();
  end.states.clear();
  end.in_doubt.clear();
  for (std::size_t host = 0; host < end.outcomes.size(); ++host) {
    end.states.push_back(filter.state_of(host));
    end.in_doubt.push_back(filter.is_in_doubt(host));
  }
}

}  // namespace

void OpeningMode::print_final_report(output::Output& output, const run::RunPolicy& policy, int status) {
  learn(end_, policy, filter_);
  CommandMode::print_final_report(output, policy, status);
}

LineMode::LineMode(const session::RunSpec& run, const session::Session& session, const StateFilter& filter,
                   Prompting prompting, ShellRunEnd& end)
    : CommandMode(run, session), filter_(filter), prompting_(std::move(prompting)), end_(end) {
  end_.ready.assign(run.plan.hosts.size(), false);
}

LineMode::~LineMode() { stop_asking(); }

void LineMode::notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) {
  if (const auto* ready = std::get_if<run::notice::Ready>(&notice)) end_.ready[ready->host] = true;
  CommandMode::notice(output, policy, notice);
}

void LineMode::all_wait(output::Output& output, const Controls& controls) {
  output_ = &output;
  run_ = controls;
  asking_ = true;
  ask();
}

void LineMode::ask() { asio::co_spawn(run_.executor, ask_after_output(), asio::detached); }

/// The prompt must stand below all that was printed.
asio::awaitable<void> LineMode::ask_after_output() {
  const unsigned question = ++question_;
  co_await output_->drain();
  if (question != question_) co_return;
  thread_ = start_thread([this, question, executor = run_.executor] {
    TypedCommand command = prompting_.reader.read(prompting_.prompt);
    asio::post(executor, [this, question, command = std::move(command)] {
      if (question == question_) take(command);
    });
  });
}

void LineMode::take(const TypedCommand& command) {
  thread_.join();
  if (command.kind == TypedCommand::Kind::ended || end_.signal != 0) {
    end_.is_end_of_input = end_.signal == 0;
    asking_ = false;
    run_.cancel();
    return;
  }
  TypedLine typed = prompting_.take(command);
  if (typed.is_refused && !prompting_.is_terminal) {  // the lines after it rely on it
    for (const std::string& answer : typed.answer) output_->say("podrun: " + answer);
    typed.fate = TypedLine::Fate::ends_run;
    end_.is_refused = true;
  } else {
    for (std::string& answer : typed.answer) output_->print(std::move(answer));
  }
  if (typed.fate == TypedLine::Fate::nothing) {
    ask();
    return;
  }
  asking_ = false;
  if (typed.fate == TypedLine::Fate::ends_run) {
    run_.cancel();
    return;
  }
  end_.has_run = true;
  end_.is_wrong = command.is_wrong;
  typed_.what = supervisor::ShellText{command.text};
  if (auto warning = report::terminal_warning(typed_, run_spec().plan.hosts, called()))
    output_->say(std::move(*warning));
  run_.release(std::move(typed.text), std::move(typed.texts_of_hosts));
}

void LineMode::stop_asking() {
  ++question_;
  asking_ = false;
  if (!thread_.joinable()) return;
  prompting_.reader.source().stop();
  thread_.join();
}

/// At a prompt Ctrl-C forgets what was typed, and Ctrl-Z and Ctrl-\ do nothing, as in other shells. One that
/// comes just before the prompt was meant for the line before.
bool LineMode::takes_signal(int signal) {
  if (!asking_) {
    end_.was_quit = end_.was_quit || (signal == SIGQUIT && end_.has_run);
    const bool is_late = std::chrono::steady_clock::now() - begin_ < kLatePress;
    return signal == SIGINT && prompting_.is_terminal && !end_.has_run && is_late;
  }
  if (signal == SIGTSTP || signal == SIGQUIT) return prompting_.is_terminal;
  if (signal == SIGINT && prompting_.is_terminal) {
    prompting_.reader.source().interrupt();
  } else {
    end_.signal = signal;
    prompting_.reader.source().stop();
  }
  return true;
}

void LineMode::print_final_report(output::Output& output, const run::RunPolicy& policy, int status) {
  stop_asking();
  learn(end_, policy, filter_);
  if (end_.has_run) {
    CommandMode::print_final_report(output, policy, status);
    if (auto hint = report::terminal_hint(typed_, run_spec().plan.hosts, policy.outcomes(), called()))
      output.say(std::move(*hint));
    return;
  }
  for (std::string& line : report::describe_failures(run_spec().plan.hosts, policy.outcomes()))
    output.say(std::move(line));
}

}  // namespace podrun::shell
