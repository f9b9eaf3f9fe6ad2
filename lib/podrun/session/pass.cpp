// SPDX-License-Identifier: Apache-2.0
// One pass of a run from its first connection to its last line: the fan-out, the output thread, the status
// line, signals and questions around it.
#include "podrun/session/pass.hpp"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "podrun/output/escape.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/report/status_line_words.hpp"
#include "podrun/session/final_report.hpp"
#include "podrun/session/questions.hpp"

namespace podrun::session {
namespace {

constexpr int kIoStatus = 1;                 // standard input or output failed
constexpr int kHangUpStatus = 128 + SIGHUP;  // the terminal has gone

/// How long podrun waits at its end for a transport command after TERM. Most end at once.
constexpr std::chrono::milliseconds kEndOfTransports{2'000};

/// Between two looks at whether somebody reads what podrun prints.
constexpr std::chrono::milliseconds kReaderLook{250};

}  // namespace

Transports::~Transports() { commands.kill(kEndOfTransports); }

Session::Pass::Pass(Shared& shared, const RunSpec& spec, const run::RunPlan& plan, Mode& mode)
    : shared_(shared),
      spec_(spec),
      plan_(plan),
      mode_(mode),
      output_(std::in_place, executor_, shown_hosts(spec).size(), mode.make_sinks(*shared.spec.terminal),
              shared.spec.terminal, [this](const output::WriteError& error) { cannot_write(error); }),
      fan_out_(plan, world()),
      notices_(executor_, plan, fan_out_.policy(), *output_,
               spec.reports_first_failures && !shared.spec.terminal->is_terminal(StreamId::err)
                   ? report::FirstFailures::told
                   : report::FirstFailures::not_told,
               spec.own_words),
      status_(
          executor_, fan_out_, *output_, status_style(),
          [this](run::Status& status) {
            if (const HostPreparation* const preparation = mode_.preparation()) preparation->complete(status);
          },
          spec.own_words),
      silence_(shared.io, [this] { return status_.status(); }),
      relay_(shared.signals, fan_out_, status_, plan.limits,
             {.leave = [this] { leave(); },
              .takes =
                  [this](int signal) {
                    HeldRun* const held = mode_.held_run();
                    return held && held->takes_signal(signal);
                  },
              .hide = [this] { return hide(); },
              .show = [this] { show(); }}) {
  shared_.ssh.host_keys.on_changed(
      [this](const std::string& warning) { output_->say("podrun: " + warning); });
  shared_.ssh.memory.server_texts.on_line([this](const std::string& host, const std::string& line) {
    output_->say(
        output::escape_controls(fmt::format("podrun: {}: the server waits and says: {}", host, line)));
  });
}

run::RunWorld Session::Pass::world() {
  run::RunWorld world{.executor = executor_,
                      .connector_for = [this](const hosts::Host& host) -> link::Connector& {
                        return shared_.connector_for(host);
                      },
                      .output = *output_,
                      .input = spec_.feeds_input ? &start_reading() : nullptr,
                      .leave = [this] { leave(); },
                      .tell = [this](const run::Notice& notice) { tell(notice); },
                      .filter = spec_.filter,
                      .names_hosts = spec_.shown.empty()};
  if (RunWatch* const watch = mode_.watch()) {
    world.on_received = [watch](std::size_t host, StreamId stream, std::string_view bytes) {
      watch->received(host, stream, bytes);
    };
  }
  if (HostPreparation* const preparation = mode_.preparation()) {
    preparation->begin_pass(*output_);
    world.preparing = preparation->stage();
    world.prepare_host = [preparation](std::size_t host, supervisor::Supervised& supervised) {
      return preparation->prepare(host, supervised);
    };
  }
  return world;
}

StatusStyle Session::Pass::status_style() const {
  StatusStyle style = shared_.spec.status;
  style.lists = style.lists && spec_.enter_lists_hosts;
  return style;
}

/// Standard input, for all hosts.
run::Input& Session::Pass::start_reading() {
  return input_.emplace(shared_.io, run::InputSource{"standard input", STDIN_FILENO}, plan_.hosts.size(),
                        [this](const std::string& name, std::error_code error) { cannot_read(name, error); });
}

void Session::Pass::cannot_write(const output::WriteError& error) {
  if (!error.broken_pipe) output_->say("podrun: cannot write " + error.what);
  io_failed_ = io_failed_ || !error.broken_pipe;
  if (!error.is_side) fan_out_.interrupt(SIGPIPE);
}

/// Notices a reader that has gone while nothing is written.
void Session::Pass::watch_reader() {
  reader_timer_.expires_after(kReaderLook);
  reader_timer_.async_wait([this](const std::error_code& cancelled) {
    if (cancelled || run_over_) return;
    reader_has_gone_ = shared_.spec.terminal->reader_has_gone();
    if (!reader_has_gone_) return watch_reader();
    fan_out_.interrupt(SIGPIPE);
  });
}

void Session::Pass::cannot_read(const std::string& name, std::error_code error) {
  output_->say(fmt::format("podrun: cannot read {}: {}", name, error.message()));
  io_failed_ = true;
  fan_out_.interrupt(SIGPIPE);
}

void Session::Pass::tell(const run::Notice& notice) {
  if (std::holds_alternative<run::notice::Started>(notice)) tell_new_host_keys();
  const HeldRun* const held = mode_.held_run();
  if (!held || !held->has_terminal()) notices_.tell(notice);
  mode_.notice(*output_, fan_out_.policy(), notice);
  if (std::holds_alternative<run::notice::Waiting>(notice)) hold();
  if (const auto* late = std::get_if<run::notice::Late>(&notice); late && shared_.spec.verbosity != kQuiet)
    output_->say(report::late_line(plan_.hosts, late->hosts, output::separator(shared_.spec.status.charset)));
}

/// Once for all keys of the hosts that have connected.
void Session::Pass::tell_new_host_keys() {
  const std::vector<ssh::HostKeyQuestion> keys = shared_.ssh.host_keys.take_new();
  if (keys.empty() || shared_.spec.verbosity == kQuiet) return;
  const std::string home = shared_.probe.env("HOME").value_or("");
  output_->say(fmt::format("podrun: new host key{} of {}: stored in {}, and checked from now on",
                           keys.size() == 1 ? "" : "s",
                           keys.size() == 1 ? keys.front().name : count_hosts(keys.size()),
                           output::escape_controls(short_path(keys.front().file, home))));
}

/// Until the run is released or cancelled, the terminal is the mode's.
void Session::Pass::hold() {
  status_.hide();
  const auto release = [this](std::string text, std::vector<std::string> texts_of_hosts) {
    status_.begin_again();
    fan_out_.release(std::move(text), std::move(texts_of_hosts));
  };
  HeldRun* const held = mode_.held_run();
  expect(held != nullptr, "the mode of a run with Limits::held has a HeldRun");
  held->all_wait(*output_,
                 {.executor = executor_, .release = release, .cancel = [this] { fan_out_.cancel(); }});
}

/// Exits at once, whatever still goes on.
void Session::Pass::leave() {
  if (!shared_.spec.owns_process) return;
  output_->abandon();
  if (RunWatch* const watch = mode_.watch()) watch->hide(*output_);
  shared_.spec.terminal->say_at_once(report::leave_line(fan_out_.status(), std::chrono::steady_clock::now()));
  shared_.transports.commands.kill(std::chrono::milliseconds(0));
  std::_Exit(128 + fan_out_.policy().interrupted_by().value_or(SIGINT));
}

/// The terminal is back when it completes: the shell takes it next. Without a screen nothing is waited for,
/// since the reader of the output may be suspended too.
asio::awaitable<void> Session::Pass::hide() {
  RunWatch* const watch = run_over_ ? nullptr : mode_.watch();
  if (!watch) co_return;
  const bool shows_screen = output_->shows_screen();
  watch->hide(*output_);
  if (shows_screen) co_await output_->drain();
}

void Session::Pass::show() {
  if (RunWatch* const watch = run_over_ ? nullptr : mode_.watch()) watch->show(*output_);
}

/// Blocks until the user has answered what this pass has left open.
Session::Pass::Next Session::Pass::ask() {
  const SignalsWhileAsking asking(shared_.signals);
  try {
    bool again = answer_questions(shared_.ssh, shared_.asker());
    HostPreparation* const preparation = mode_.preparation();
    const std::string question = preparation ? preparation->question() : "";
    if (again && !question.empty()) {
      again = session::ask_yes_or_no(question, shared_.asker());
      if (again) preparation->agree();
    }
    if (SignalsWhileAsking::received() != 0) throw output::QuestionInterrupted();
    if (again) return Next::connect_again;
  } catch (const output::QuestionInterrupted&) {
    fan_out_.interrupt(SignalsWhileAsking::received() != 0 ? SignalsWhileAsking::received() : SIGINT);
    return Next::leave;
  } catch (const output::AskedInBackground&) {
    output_->say("podrun: " + std::string(kAskedInBackground));
  }
  return plan_.limits.on_unreachable == run::OnUnreachable::skip ? Next::go_without_answer : Next::leave;
}

/// Until the run has ended.
asio::awaitable<void> Session::Pass::watch_run(RunWatch& watch) {
  constexpr std::chrono::seconds kBetween{1};
  while (!run_over_) {
    watch_timer_.expires_after(kBetween);
    std::error_code cancelled;
    co_await watch_timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!run_over_) co_await watch.look(fan_out_, *output_);
  }
}

/// From the start to the last line of the final report.
asio::awaitable<Session::Pass::Next> Session::Pass::to_the_end() {
  mode_.begin(*output_);
  Event watch_over(executor_);
  RunWatch* const watch = mode_.watch();
  if (watch) {
    asio::co_spawn(executor_, watch_run(*watch), [&](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);
      watch_over.notify();
    });
  }
  if (shared_.spec.needs_reader) watch_reader();
  if (spec_.remembers_silent && shared_.spec.owns_process) silence_.start();
  co_await fan_out_.run();
  run_over_ = true;
  silence_.stop();
  watch_timer_.cancel();
  reader_timer_.cancel();
  if (watch) {
    watch->run_over();
    co_await watch_over.wait();
  }
  status_.hide();
  output_->finish();
  const run::RunPolicy& policy = fan_out_.policy();
  if (waits_for_answer(plan_.limits, policy)) {
    co_await output_->drain();
    const Next next = ask();
    if (next != Next::leave) co_return next;
  }
  co_await output_->drain();  // by now the sinks know everything
  tell_new_host_keys();       // where nothing was started
  const std::string& warning = shared_.ssh.host_keys.warning();
  if (!warning.empty()) output_->say("podrun: " + warning);
  mode_.print_final_report(*output_, policy, status());
  co_await output_->drain();
  co_return Next::leave;
}

Session::Pass::End Session::Pass::play() {
  playing_.call("Pass::play() is called once");
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
  run_what_is_due(*shared_.io);
  output_.reset();  // waits for its thread: the terminal is the main thread's again
  if (next == Next::connect_again) return {.again = true};
  if (next == Next::go_without_answer) return {.again = true, .can_ask = false};
  const run::RunPolicy& policy = fan_out_.policy();
  return {.result = {.status = exit_status(),
                     .outcomes = policy.outcomes(),
                     .interrupted_by = policy.interrupted_by()}};
}

int Session::Pass::status() const { return io_failed_ ? kIoStatus : mode_.status(fan_out_.policy()); }

/// A terminal or a reader that has gone decides it.
int Session::Pass::exit_status() const {
  if (reader_has_gone_) return output::kBrokenPipeStatus;
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::error_code error = shared_.spec.terminal->error(stream);
    if (error == std::errc::broken_pipe) return output::kBrokenPipeStatus;
    if (error == std::errc::io_error && shared_.spec.terminal->is_terminal(stream)) return kHangUpStatus;
  }
  return status();
}

}  // namespace podrun::session
