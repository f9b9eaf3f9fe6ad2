// SPDX-License-Identifier: Apache-2.0
// Puts the parts together; the only place that handles signals and ends the process.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/output.hpp"
#include "podrun/output/question.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/run/failure_report.hpp"
#include "podrun/run/fan_out.hpp"
#include "podrun/run/hint.hpp"
#include "podrun/run/summary.hpp"

#include "connectors.hpp"
#include "hosts.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "questions.hpp"
#include "repeat.hpp"
#include "sinks.hpp"

namespace podrun {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kIoStatus = 1;         // standard input or output failed
constexpr int kInternalStatus = 70;  // EX_SOFTWARE, sysexits(3)
constexpr int kBrokenPipeStatus = 128 + SIGPIPE;

/// Descriptors 0 to 2 are always something, so that none of ours becomes a child's standard stream by
/// accident.
void open_standard_descriptors() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0) ::open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY);
  }
}

/// What nohup(1) or a shell without job control made us ignore stays ignored.
bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// A run that is told to end and does not, since nobody reads its output, is left after the grace and this.
constexpr std::chrono::seconds kLastResort{10};

asio::awaitable<void> relay_signals(asio::signal_set& signals, FanOut& fan_out, std::chrono::seconds grace,
                                    std::function<void()> leave) {
  asio::steady_timer last_resort(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  for (;;) {
    const int signal = co_await signals.async_wait(asio::use_awaitable);
    if (signal == SIGTSTP) {
      co_await fan_out.suspend();
      ::raise(SIGSTOP);
      fan_out.resume();
    } else {
      fan_out.interrupt(signal);
      if (signal == SIGINT || last_resort.expiry() != asio::steady_timer::time_point::max()) continue;
      last_resort.expires_after(grace + kLastResort);
      last_resort.async_wait([leave](const std::error_code& error) {
        if (!error) leave();
      });
    }
  }
}

/// Whether what the hosts wait for is an answer of the user, and an answer would make the run possible.
bool waits_for_answer(const Limits& limits, const RunPolicy& policy) {
  if (limits.questions == Questions::none || policy.interrupted_by()) return false;
  bool waits = false;
  for (const HostOutcome& outcome : policy.outcomes()) {
    const auto* unreachable = std::get_if<Unreachable>(&outcome);
    if (!unreachable && !std::holds_alternative<NotStarted>(outcome)) return false;  // it has run there
    const bool asks = unreachable && unreachable->failure.retry == Retry::after_asking;
    if (unreachable && !asks && limits.on_unreachable == OnUnreachable::stop) return false;
    waits = waits || asks;
  }
  return waits;
}

/// What is said at the end: how it went, why, and how to go on.
std::vector<std::string> conclude(const std::vector<Host>& hosts, const RunPolicy& policy,
                                  const Options& options, const LastLines& last_lines) {
  std::vector<std::string> lines =
      summarize(hosts, policy.outcomes(), policy.culprit(), policy.interrupted_by());
  if (hosts.size() == 1 || policy.interrupted_by() == SIGPIPE) return lines;
  const bool all_were_shown = !options.rank0 && !options.gather && !options.json;
  const auto lines_of = [&](std::size_t host) {
    return all_were_shown && last_lines.are_recent(host) ? std::vector<std::string>() : last_lines.of(host);
  };
  for (std::string& line : report_failures(hosts, policy.outcomes(), lines_of))
    lines.push_back(std::move(line));
  const std::string ranks = ranks_to_repeat(hosts, policy.outcomes());
  if (!ranks.empty() && !policy.interrupted_by())
    lines.push_back("podrun: again on just those: " + repeat_command(options.arguments, ranks));
  return lines;
}

enum class Next { leave, connect_again, go_without_answer };

/// An attempt of the run from its start to the last line of its summary.
asio::awaitable<Next> run_to_the_end(FanOut& fan_out, Output& output, const Plan& plan,
                                     const Options& options, const LastLines& last_lines, SshState& ssh) {
  co_await fan_out.run();
  output.finish();
  const RunPolicy& policy = fan_out.policy();
  if (waits_for_answer(plan.run.limits, policy)) {
    co_await output.drain();
    try {
      if (answer_questions(ssh)) co_return Next::connect_again;
      if (plan.run.limits.on_unreachable == OnUnreachable::skip) co_return Next::go_without_answer;
    } catch (const QuestionInterrupted&) {
      fan_out.interrupt(SIGINT);
    }
  }
  co_await output.drain();  // by now the last lines are known
  if (!ssh.host_keys.warning().empty()) output.say("podrun: " + ssh.host_keys.warning());
  for (std::string& line : conclude(plan.run.hosts, policy, options, last_lines)) output.say(std::move(line));
  if (const auto* words = std::get_if<Words>(&plan.command.what)) {
    if (auto hint = quoting_hint(words->words, policy.outcomes())) output.say(std::move(*hint));
  }
  co_await output.drain();
  co_return Next::leave;
}

/// Nothing: the user was asked, and the run is to be tried again, as the plan now says.
std::optional<int> try_to_run(Plan& plan, const Options& options, const Probe& probe,
                              const std::shared_ptr<Terminal>& terminal, SshState& ssh,
                              std::size_t limit_before) {
  const auto context = std::make_shared<asio::io_context>(1);
  const auto executor = context->get_executor();
  const Connectors connectors(context, options, plan.ssh.settings, ssh, probe, limit_before);
  FanOut* interruptible = nullptr;
  const Sinks sinks = make_sinks(plan.run.hosts, options, probe, *terminal);
  bool write_failed = false;
  std::optional<Output> output;
  output.emplace(executor, plan.run.hosts.size(), sinks.all, terminal, [&](const WriteError& error) {
    if (!error.broken_pipe) output->say("podrun: cannot write " + error.what);
    write_failed = write_failed || !error.broken_pipe;
    if (interruptible) interruptible->interrupt(SIGPIPE);
  });
  std::optional<Input> input;
  bool input_failed = false;
  if (options.feed_input) {
    input.emplace(context, STDIN_FILENO, plan.run.hosts.size(), [&](std::error_code error) {
      output->say(fmt::format("podrun: cannot read standard input: {}", error.message()));
      input_failed = true;
      if (interruptible) interruptible->interrupt(SIGPIPE);
    });
  }
  const std::function<void()> leave = [&] {
    output->abandon();
    std::_Exit(128 + interruptible->policy().interrupted_by().value_or(SIGINT));
  };
  FanOut fan_out(plan.run,
                 {.executor = executor,
                  .connector_for = [&](const Host& host) -> Connector& { return connectors.at(host); },
                  .output = *output,
                  .input = input ? &*input : nullptr,
                  .leave = leave});
  interruptible = &fan_out;

  asio::signal_set signals(executor);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) {
    if (!is_ignored(signal)) signals.add(signal);
  }
  const auto rethrow = [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  };
  asio::co_spawn(executor, relay_signals(signals, fan_out, plan.run.limits.grace, leave), rethrow);
  Next next = Next::leave;
  asio::co_spawn(executor, run_to_the_end(fan_out, *output, plan, options, *sinks.last_lines, ssh),
                 [&](const std::exception_ptr& error, Next decided) {
                   rethrow(error);
                   next = decided;
                   context->stop();
                 });
  context->run();
  output.reset();  // joins its thread: the terminal is ours again
  if (next == Next::go_without_answer) plan.run.limits.questions = Questions::none;
  if (next != Next::leave) return std::nullopt;
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    if (terminal->error(stream) == std::errc::broken_pipe) return kBrokenPipeStatus;
  }
  if (write_failed || input_failed) return kIoStatus;
  return exit_status(fan_out.policy().outcomes(), fan_out.policy().interrupted_by());
}

/// Reads the keys of the user and of the hosts, and says what was passed over.
void load(const Plan& plan, SshState& ssh, Terminal& terminal) {
  ssh.host_keys.load(plan.ssh.settings);
  ssh.identities.find(plan.ssh.settings);
  std::vector<std::string> notes = ssh.identities.warnings();
  if (plan.run.verbosity > 0) {
    for (const std::string& keyword : plan.ssh.passed_over)
      notes.push_back(fmt::format("-o: {} changes nothing here: passed over", keyword));
    for (const std::string& note : ssh.host_keys.passed_over()) notes.push_back(note + ": passed over");
  }
  for (const std::string& note : notes)
    terminal.append(StreamId::err, {"podrun: ", escape_controls(note), "\n"});
  terminal.flush();
}

int run(Plan plan, const Options& options, const Probe& probe, const std::shared_ptr<Terminal>& terminal) {
  const HostCount ways = count_ways(options, plan.run.hosts);
  const std::size_t limit_before = raise_descriptor_limit(ways);
  if (can_ask_on_terminal()) plan.run.limits.questions = Questions::can_be_asked;
  SshState ssh(plan.ssh.home);
  if (ways.by_ssh > 0) load(plan, ssh, *terminal);
  for (;;) {
    if (const auto status = try_to_run(plan, options, probe, terminal, ssh, limit_before)) return *status;
  }
}

int answer(const std::string& text, Terminal& terminal) {
  terminal.append(StreamId::out, {text});
  terminal.flush();
  return terminal.error(StreamId::out) ? kIoStatus : 0;
}

int dispatch(const std::vector<std::string>& arguments, const std::shared_ptr<Terminal>& terminal) {
  const auto parsed = parse_options(arguments);
  if (const auto* text = std::get_if<Answer>(&parsed)) return answer(text->text, *terminal);
  const Options& options = std::get<Options>(parsed);
  const std::unique_ptr<Probe> probe = make_system_probe();
  if (options.task == Task::hosts) return answer(answer_hosts(options, *probe), *terminal);
  if (!options.words && !options.script && is_terminal(STDIN_FILENO)) {
    if (options.arguments.empty()) return answer(help_text(), *terminal);
    throw UsageError("no command (podrun [OPTIONS] -- COMMAND)");
  }
  const Plan plan = make_plan(options, *probe);
  if (options.dry_run) return answer(describe_plan(plan), *terminal);
  return run(plan, options, *probe, terminal);
}

int guarded_main(const std::vector<std::string>& arguments) {
  const auto terminal = std::make_shared<Terminal>(STDOUT_FILENO, STDERR_FILENO);
  const auto fail = [&](const std::string& what, int status) {
    terminal->append(StreamId::err, {"podrun: ", escape_controls(what), "\n"});
    terminal->flush();
    return status;
  };
  try {
    return dispatch(arguments, terminal);
  } catch (const UsageError& error) {
    return fail(error.what(), kUsageStatus);
  } catch (const std::exception& error) {
    return fail(fmt::format("internal error: {}", error.what()), kInternalStatus);
  }
}

}  // namespace
}  // namespace podrun

int main(int argc, char** argv) {
  podrun::open_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a closed reader is an error of write
  return podrun::guarded_main({argv + 1, argv + argc});
}
