// SPDX-License-Identifier: Apache-2.0
// Puts the parts of a run together: the connectors, the fan-out, the output thread, the status line
// and signals. Runs it again when the user has answered a question.
#include "commands/start_plan.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include "podrun/local/descriptors.hpp"
#include "podrun/local/transport_commands.hpp"
#include "podrun/output/output.hpp"
#include "podrun/output/question.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/reach/run_connectors.hpp"
#include "podrun/report/run_notices.hpp"
#include "podrun/report/status_words.hpp"
#include "podrun/run/fan_out.hpp"

#include "commands/answers.hpp"
#include "commands/final_report.hpp"
#include "commands/questions.hpp"
#include "commands/run_signals.hpp"
#include "commands/status_display.hpp"

namespace podrun::commands {
namespace {

constexpr int kIoStatus = 1;  // standard input or output failed
constexpr int kBrokenPipeStatus = 128 + SIGPIPE;
constexpr int kHangUpStatus = 128 + SIGHUP;  // the terminal has gone

/// How long podrun waits at its end for a transport command after TERM. Most end at once.
constexpr std::chrono::milliseconds kEndOfTransports{2'000};

/// The state that all attempts of a run share.
struct Run {
  Plan plan;
  const cli::Options& options;
  const hosts::Probe& probe;
  std::shared_ptr<output::Terminal> terminal;
  reach::SshState ssh;
  local::TransportCommands transports = {};  ///< outlives the io_context of each attempt
  std::size_t descriptor_limit;              ///< before it was raised
  bool io_failed = false;                    ///< in this attempt
  StatusStyle status_style;
  std::unique_ptr<Mode> mode = nullptr;
};

int status_of(const Run& run, const run::RunPolicy& policy) {
  return run.io_failed ? kIoStatus : run.mode->status(policy);
}

enum class Next { leave, connect_again, go_without_answer };

/// One attempt of a run, with all that it needs. The members stand in the order in which each needs those
/// before it, and are destroyed the other way round.
class Attempt {
 public:
  explicit Attempt(Run& run);

  /// Nothing: the user was asked, and the run is to be tried again, as the plan now says.
  std::optional<int> play();

 private:
  run::Input& start_reading();
  void cannot_write(const output::WriteError& error);
  void cannot_read(const std::string& name, std::error_code error);
  void tell(const run::Notice& notice);
  [[noreturn]] void leave();
  Next ask();
  asio::awaitable<Next> to_the_end();
  int end();

  Run& run_;
  std::shared_ptr<asio::io_context> context_ = std::make_shared<asio::io_context>(1);
  asio::any_io_executor executor_ = context_->get_executor();
  reach::Connectors connectors_;
  std::optional<output::Output> output_;  ///< until end(), which waits for its thread
  std::optional<run::Input> input_;
  run::FanOut fan_out_;
  report::RunNotices notices_;
  StatusDisplay status_;
  asio::signal_set signals_;
};

Attempt::Attempt(Run& run)
    : run_(run),
      connectors_(context_, run.plan.reach, run.plan.run, run.ssh, run.probe, run.descriptor_limit,
                  run.transports),
      output_(std::in_place, executor_, run.plan.run.hosts.size(), run.mode->make_sinks(*run.terminal),
              run.terminal, [this](const output::WriteError& error) { cannot_write(error); }),
      fan_out_(run.plan.run, {.executor = executor_,
                              .connector_for = [this](const hosts::Host& host) -> link::Connector& {
                                return connectors_.at(host);
                              },
                              .output = *output_,
                              .input = run.options.feed_input ? &start_reading() : nullptr,
                              .leave = [this] { leave(); },
                              .tell = [this](const run::Notice& notice) { tell(notice); },
                              .prepare_host = run.mode->preparation()}),
      notices_(executor_, run.plan.run, fan_out_.policy(), *output_,
               run.mode->reports_first_failures() && !run.terminal->is_terminal(StreamId::err)
                   ? report::FirstFailures::told
                   : report::FirstFailures::not_told),
      status_(executor_, fan_out_, *output_, run.status_style, [this] { return run_.mode->transfer(); }),
      signals_(executor_) {
  run_.io_failed = false;
  run_.ssh.host_keys.on_changed([this](const std::string& warning) { output_->say("podrun: " + warning); });
  take_signals(signals_);
}

/// Standard input, for all hosts.
run::Input& Attempt::start_reading() {
  return input_.emplace(context_, run::InputSource{"standard input", STDIN_FILENO},
                        run_.plan.run.hosts.size(),
                        [this](const std::string& name, std::error_code error) { cannot_read(name, error); });
}

void Attempt::cannot_write(const output::WriteError& error) {
  if (!error.broken_pipe) output_->say("podrun: cannot write " + error.what);
  run_.io_failed = run_.io_failed || !error.broken_pipe;
  if (!error.is_side) fan_out_.interrupt(SIGPIPE);
}

void Attempt::cannot_read(const std::string& name, std::error_code error) {
  output_->say(fmt::format("podrun: cannot read {}: {}", name, error.message()));
  run_.io_failed = true;
  fan_out_.interrupt(SIGPIPE);
}

void Attempt::tell(const run::Notice& notice) {
  notices_.tell(notice);
  run_.mode->tell(*output_, fan_out_.policy(), notice);
}

/// At once, whatever still goes on.
void Attempt::leave() {
  output_->abandon();
  run_.terminal->say_at_once(report::leave_line(fan_out_.status(), std::chrono::steady_clock::now()));
  run_.transports.kill(std::chrono::milliseconds(0));
  std::_Exit(128 + fan_out_.policy().interrupted_by().value_or(SIGINT));
}

/// Blocks until the user has answered what this attempt has left open.
Next Attempt::ask() {
  const SignalsWhileAsking asking(signals_);
  try {
    const bool again =
        answer_questions(run_.ssh, {.interrupted = [] { return SignalsWhileAsking::received() != 0; },
                                    .suspend = [&] { stop_foreground(signals_); }});
    if (SignalsWhileAsking::received() != 0) throw output::QuestionInterrupted();
    if (again) return Next::connect_again;
  } catch (const output::QuestionInterrupted&) {
    fan_out_.interrupt(SignalsWhileAsking::received() != 0 ? SignalsWhileAsking::received() : SIGINT);
    return Next::leave;
  } catch (const output::AskedInBackground&) {
    output_->say(
        "podrun: cannot ask questions in the background (run podrun in the foreground, under "
        "timeout(1) with its --foreground)");
  }
  return run_.plan.run.limits.on_unreachable == run::OnUnreachable::skip ? Next::go_without_answer
                                                                         : Next::leave;
}

/// From the start to the last line of the final report.
asio::awaitable<Next> Attempt::to_the_end() {
  run_.mode->begin(*output_);
  co_await fan_out_.run();
  status_.hide();
  output_->finish();
  const run::RunPolicy& policy = fan_out_.policy();
  if (waits_for_answer(run_.plan.run.limits, policy)) {
    co_await output_->drain();
    const Next next = ask();
    if (next != Next::leave) co_return next;
  }
  co_await output_->drain();  // by now the sinks know everything
  const std::string& warning = run_.ssh.host_keys.warning();
  if (!warning.empty()) output_->say("podrun: " + warning);
  run_.mode->print_final_report(*output_, policy, status_of(run_, policy));
  co_await output_->drain();
  co_return Next::leave;
}

std::optional<int> Attempt::play() {
  const auto rethrow = [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  };
  asio::co_spawn(executor_,
                 relay_signals(signals_, fan_out_, status_, run_.plan.run.limits.grace, run_.mode->patience(),
                               [this] { leave(); }),
                 rethrow);
  Next next = Next::leave;
  asio::co_spawn(executor_, to_the_end(), [&](const std::exception_ptr& error, Next decided) {
    rethrow(error);
    next = decided;
    context_->stop();
  });
  context_->run();
  output_.reset();  // waits for its thread: the terminal is the main thread's again
  if (next == Next::leave) return end();
  if (next == Next::go_without_answer) run_.plan.run.limits.questions = run::Questions::none;
  return std::nullopt;
}

/// The exit status.
int Attempt::end() {
  ignore_from_now_on(signals_);
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::error_code error = run_.terminal->error(stream);
    if (error == std::errc::broken_pipe) return kBrokenPipeStatus;
    if (error == std::errc::io_error && run_.terminal->is_terminal(stream)) return kHangUpStatus;
  }
  return status_of(run_, fan_out_.policy());
}

/// Reports what is ignored of the keys and of ssh_config(5).
void report_ignored(const Plan& plan, const reach::SshState& ssh, output::Terminal& terminal) {
  std::vector<std::string> notes = ssh.identities.warnings();
  if (plan.run.verbosity > 0) {
    for (const std::string& keyword : plan.reach.config->ignored())
      notes.push_back(keyword + " has no effect here: ignored");
    for (const std::string& note : ssh.host_keys.ignored()) notes.push_back(note + ": ignored");
    for (const std::string& note : ssh.identities.ignored()) notes.push_back(note + ": ignored");
  }
  say(notes, terminal);
}

int run_plan(Plan plan, const cli::Context& context, const MakeMode& make_mode) {
  const cli::Options& options = context.options;
  const hosts::Probe& probe = context.probe;
  const local::HostCount counts = reach::count_hosts(plan.reach, plan.run);
  const local::DescriptorLimit descriptors = local::raise_descriptor_limit(counts);
  plan.run.limits.fanout = descriptors.at_once;
  if (output::can_ask_on_terminal()) plan.run.limits.questions = run::Questions::can_be_asked;
  Run run{.plan = plan,
          .options = options,
          .probe = probe,
          .terminal = context.terminal,
          .ssh = reach::SshState(plan.reach),
          .descriptor_limit = descriptors.before,
          .io_failed = false,
          .status_style = choose_status_style(options, probe)};
  if (counts.by_ssh > 0) report_ignored(run.plan, run.ssh, *run.terminal);
  run.terminal->set_charset(run.status_style.charset);
  run.mode = make_mode(run.plan, run.status_style.charset);
  for (;;) {
    const auto status = Attempt(run).play();
    run.transports.kill(kEndOfTransports);
    if (status) return *status;
  }
}

}  // namespace

int start_plan(Plan plan, const cli::Context& context, const MakeMode& make_mode) {
  say(plan.notes, *context.terminal);
  if (context.options.dry_run && !plan.dry_run_asks_hosts)
    return answer(describe_plan(plan), *context.terminal);
  return run_plan(std::move(plan), context, make_mode);
}

}  // namespace podrun::commands
