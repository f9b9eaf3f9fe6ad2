// SPDX-License-Identifier: Apache-2.0
// Puts the parts of a run together: the connectors, the fan-out, the output thread, the status line
// and signals. Runs it again when the user has answered a question.
#include "commands/run_sequence.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/link/kept_links.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/local/transport_commands.hpp"
#include "podrun/output/escape.hpp"
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

/// Handlers that run between two runs. A server that floods a kept connection makes new ones without end.
constexpr std::size_t kMostDue = 100'000;

constexpr std::string_view kAskedInBackground =
    "cannot ask questions in the background (run podrun in the foreground, under timeout(1) with its "
    "--foreground)";

enum class Next { leave, connect_again, go_without_answer };

/// The transport commands, which outlive the io_context.
struct Transports {
  Transports() = default;
  Transports(const Transports&) = delete;
  Transports& operator=(const Transports&) = delete;
  ~Transports() { commands.kill(kEndOfTransports); }

  local::TransportCommands commands = {};
};

StatusStyle status_style(StatusStyle style, const Mode& mode) {
  style.lists = style.lists && !mode.leaves_typed_lines();
  return style;
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

}  // namespace

/// The state that all runs of a sequence share. A member may use those that are declared before it.
struct RunSequence::Shared {
  Shared(const Plan& plan, const cli::Context& context, Connections between_runs)
      : counts(reach::count_hosts(plan.reach, plan.run)),
        descriptors(local::raise_descriptor_limit(counts)),
        terminal(context.terminal),
        status_style(choose_status_style(context.options, context.probe)),
        ssh(plan.reach),
        connectors(io, plan.reach, plan.run, ssh, context.probe, descriptors.before, transports.commands),
        connections(between_runs),
        signals(io->get_executor()) {}

  /// For questions while SignalsWhileAsking is there.
  output::Asker asker() {
    return {.interrupted = [] { return SignalsWhileAsking::received() != 0; },
            .suspend = [this] { stop_foreground(signals); }};
  }

  link::Connector& connector_for(const hosts::Host& host) {
    link::Connector& connector = connectors.at(host);
    if (connections == Connections::closed) return connector;
    return kept.try_emplace(&connector, connector).first->second;
  }

  const local::HostCount counts;
  const local::DescriptorLimit descriptors;
  const std::shared_ptr<output::Terminal> terminal;
  const StatusStyle status_style;
  Transports transports = {};
  std::shared_ptr<asio::io_context> io = std::make_shared<asio::io_context>(1);
  reach::SshState ssh;
  reach::Connectors connectors;
  const Connections connections;
  std::map<link::Connector*, link::KeptLinks> kept = {};
  asio::signal_set signals;
};

/// The state that all attempts of a run share.
struct RunSequence::Run {
  Plan plan;
  const cli::Options& options;
  std::unique_ptr<Mode> mode = nullptr;
  bool io_failed = false;  ///< in this attempt

  int status(const run::RunPolicy& policy) const { return io_failed ? kIoStatus : mode->status(policy); }
};

/// One attempt of a run, with all that it needs. The members stand in the order in which each needs those
/// before it, and are destroyed the other way round.
class RunSequence::Attempt {
 public:
  Attempt(Shared& shared, Run& run);

  /// Nothing: the user was asked, and the run is to be tried again, as the plan now says.
  std::optional<int> play();

 private:
  run::Input& start_reading();
  void cannot_write(const output::WriteError& error);
  void cannot_read(const std::string& name, std::error_code error);
  void tell(const run::Notice& notice);
  void wait();
  [[noreturn]] void leave();
  Next ask();
  asio::awaitable<Next> to_the_end();
  int end();

  Shared& shared_;
  Run& run_;
  asio::any_io_executor executor_ = shared_.io->get_executor();
  std::optional<output::Output> output_;  ///< until the end of play(), which waits for its thread
  std::optional<run::Input> input_;
  run::FanOut fan_out_;
  report::RunNotices notices_;
  StatusDisplay status_;
  SignalRelay relay_;
};

RunSequence::Attempt::Attempt(Shared& shared, Run& run)
    : shared_(shared),
      run_(run),
      output_(std::in_place, executor_, run.plan.run.hosts.size(), run.mode->make_sinks(*shared.terminal),
              shared.terminal, [this](const output::WriteError& error) { cannot_write(error); }),
      fan_out_(run.plan.run, {.executor = executor_,
                              .connector_for = [this](const hosts::Host& host) -> link::Connector& {
                                return shared_.connector_for(host);
                              },
                              .output = *output_,
                              .input = run.options.feed_input ? &start_reading() : nullptr,
                              .leave = [this] { leave(); },
                              .tell = [this](const run::Notice& notice) { tell(notice); },
                              .prepare_host = run.mode->preparation(),
                              .preparing = run.mode->preparation_stage(),
                              .filter = run.mode->output_filter()}),
      notices_(executor_, run.plan.run, fan_out_.policy(), *output_,
               run.mode->reports_first_failures() && !shared.terminal->is_terminal(StreamId::err)
                   ? report::FirstFailures::told
                   : report::FirstFailures::not_told),
      status_(executor_, fan_out_, *output_, status_style(shared.status_style, *run.mode),
              [this] { return run_.mode->transfer(); }),
      relay_(shared.signals, fan_out_, status_, run.plan.run.limits.grace, run.mode->patience(),
             {.leave = [this] { leave(); },
              .takes = [this](int signal) { return run_.mode->takes_signal(signal); }}) {
  run_.io_failed = false;
  shared_.ssh.host_keys.on_changed(
      [this](const std::string& warning) { output_->say("podrun: " + warning); });
  shared_.ssh.memory.server_texts.on_line([this](const std::string& host, const std::string& line) {
    output_->say(
        output::escape_controls(fmt::format("podrun: {}: the server waits and says: {}", host, line)));
  });
}

/// Standard input, for all hosts.
run::Input& RunSequence::Attempt::start_reading() {
  return input_.emplace(shared_.io, run::InputSource{"standard input", STDIN_FILENO},
                        run_.plan.run.hosts.size(),
                        [this](const std::string& name, std::error_code error) { cannot_read(name, error); });
}

void RunSequence::Attempt::cannot_write(const output::WriteError& error) {
  if (!error.broken_pipe) output_->say("podrun: cannot write " + error.what);
  run_.io_failed = run_.io_failed || !error.broken_pipe;
  if (!error.is_side) fan_out_.interrupt(SIGPIPE);
}

void RunSequence::Attempt::cannot_read(const std::string& name, std::error_code error) {
  output_->say(fmt::format("podrun: cannot read {}: {}", name, error.message()));
  run_.io_failed = true;
  fan_out_.interrupt(SIGPIPE);
}

void RunSequence::Attempt::tell(const run::Notice& notice) {
  if (!run_.mode->has_terminal()) notices_.tell(notice);
  run_.mode->tell(*output_, fan_out_.policy(), notice);
  if (std::holds_alternative<run::notice::Waiting>(notice)) wait();
}

/// Until the mode releases the run or cancels it, the terminal is the mode's.
void RunSequence::Attempt::wait() {
  status_.hide();
  const auto release = [this](std::string text, std::vector<std::string> texts_of_hosts) {
    status_.begin_again();
    fan_out_.release(std::move(text), std::move(texts_of_hosts));
  };
  run_.mode->wait(*output_,
                  {.executor = executor_, .release = release, .cancel = [this] { fan_out_.cancel(); }});
}

/// At once, whatever still goes on.
void RunSequence::Attempt::leave() {
  output_->abandon();
  shared_.terminal->say_at_once(report::leave_line(fan_out_.status(), std::chrono::steady_clock::now()));
  shared_.transports.commands.kill(std::chrono::milliseconds(0));
  std::_Exit(128 + fan_out_.policy().interrupted_by().value_or(SIGINT));
}

/// Blocks until the user has answered what this attempt has left open.
Next RunSequence::Attempt::ask() {
  const SignalsWhileAsking asking(shared_.signals);
  try {
    bool again = answer_questions(shared_.ssh, shared_.asker());
    const std::string question = run_.mode->question();
    if (again && !question.empty()) {
      again = commands::ask_yes_or_no(question, shared_.asker());
      if (again) run_.mode->agree();
    }
    if (SignalsWhileAsking::received() != 0) throw output::QuestionInterrupted();
    if (again) return Next::connect_again;
  } catch (const output::QuestionInterrupted&) {
    fan_out_.interrupt(SignalsWhileAsking::received() != 0 ? SignalsWhileAsking::received() : SIGINT);
    return Next::leave;
  } catch (const output::AskedInBackground&) {
    output_->say("podrun: " + std::string(kAskedInBackground));
  }
  return run_.plan.run.limits.on_unreachable == run::OnUnreachable::skip ? Next::go_without_answer
                                                                         : Next::leave;
}

/// From the start to the last line of the final report.
asio::awaitable<Next> RunSequence::Attempt::to_the_end() {
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
  const std::string& warning = shared_.ssh.host_keys.warning();
  if (!warning.empty()) output_->say("podrun: " + warning);
  run_.mode->print_final_report(*output_, policy, run_.status(policy));
  co_await output_->drain();
  co_return Next::leave;
}

std::optional<int> RunSequence::Attempt::play() {
  const auto rethrow = [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  };
  bool relays = true;
  std::optional<Next> next;
  const auto stop_when_all_ended = [&] {
    if (!relays && next) shared_.io->stop();
  };
  asio::co_spawn(executor_, relay_.run(), [&](const std::exception_ptr& error) {
    rethrow(error);
    relays = false;
    stop_when_all_ended();
  });
  asio::co_spawn(executor_, to_the_end(), [&](const std::exception_ptr& error, Next decided) {
    rethrow(error);
    next = decided;
    relay_.end();
    stop_when_all_ended();
  });
  shared_.io->restart();
  shared_.io->run();
  shared_.io->restart();
  // What is due of this attempt, while its parts are there.
  for (std::size_t handlers = 0; handlers < kMostDue && shared_.io->poll_one() > 0; ++handlers) {
  }
  output_.reset();  // waits for its thread: the terminal is the main thread's again
  if (next == Next::connect_again) return std::nullopt;
  if (next != Next::go_without_answer) return end();
  run_.plan.run.limits.questions = run::Questions::none;
  return std::nullopt;
}

/// The exit status.
int RunSequence::Attempt::end() {
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::error_code error = shared_.terminal->error(stream);
    if (error == std::errc::broken_pipe) return kBrokenPipeStatus;
    if (error == std::errc::io_error && shared_.terminal->is_terminal(stream)) return kHangUpStatus;
  }
  return run_.status(fan_out_.policy());
}

RunSequence::RunSequence(const Plan& plan, const cli::Context& context, Connections connections)
    : shared_(std::make_unique<Shared>(plan, context, connections)) {
  if (shared_->counts.by_ssh > 0) report_ignored(plan, shared_->ssh, *shared_->terminal);
  shared_->terminal->set_charset(shared_->status_style.charset);
  take_signals(shared_->signals);
}

/// All is over, and its status is no other one because of what comes now.
RunSequence::~RunSequence() { ignore_from_now_on(shared_->signals); }

int RunSequence::run(Plan plan, const cli::Options& options, const MakeMode& make_mode) {
  say(plan.notes, *shared_->terminal);
  plan.run.limits.fanout = shared_->descriptors.at_once;
  // While a run waits, the terminal is used otherwise.
  if (!plan.run.limits.held && output::can_ask_on_terminal())
    plan.run.limits.questions = run::Questions::can_be_asked;
  Run run{.plan = std::move(plan), .options = options};
  run.mode = make_mode(run.plan, shared_->status_style.charset);
  for (;;) {
    const std::optional<int> status = Attempt(*shared_, run).play();
    if (status) return *status;
  }
}

RunSequence::Answer RunSequence::ask_yes_or_no(const std::string& question) {
  const SignalsWhileAsking asking(shared_->signals);
  try {
    const bool is_yes = commands::ask_yes_or_no(question, shared_->asker());
    return {.is_yes = is_yes, .signal = SignalsWhileAsking::received()};
  } catch (const output::QuestionInterrupted&) {
    const int received = SignalsWhileAsking::received();
    return {.is_yes = false, .signal = received != 0 ? received : SIGINT};
  } catch (const output::AskedInBackground&) {
    throw UsageError(std::string(kAskedInBackground));
  }
}

output::Charset RunSequence::charset() const { return shared_->status_style.charset; }

int start_plan(Plan plan, const cli::Context& context, const MakeMode& make_mode) {
  if (context.options.dry_run) {
    say(plan.notes, *context.terminal);
    return answer(describe_plan(plan), *context.terminal);
  }
  RunSequence alone(plan, context, RunSequence::Connections::closed);
  return alone.run(std::move(plan), context.options, make_mode);
}

}  // namespace podrun::commands
