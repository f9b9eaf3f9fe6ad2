// SPDX-License-Identifier: Apache-2.0
// Puts the parts together; the only place that handles signals and ends the process.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/local/descriptors.hpp"
#include "podrun/local/process.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/output.hpp"
#include "podrun/output/question.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/run/fan_out.hpp"

#include "check.hpp"
#include "command_purpose.hpp"
#include "conclusion.hpp"
#include "connectors.hpp"
#include "hosts.hpp"
#include "loss_notices.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "purpose.hpp"
#include "questions.hpp"
#include "ssh_command.hpp"
#include "status.hpp"

namespace podrun {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kIoStatus = 1;           // standard input or output failed
constexpr int kCannotRunStatus = 126;  // as a shell has them, for `podrun ssh`
constexpr int kNotFoundStatus = 127;
constexpr int kInternalStatus = 70;  // EX_SOFTWARE, sysexits(3)
constexpr int kBrokenPipeStatus = 128 + SIGPIPE;
constexpr int kHangUpStatus = 128 + SIGHUP;  // the terminal has gone

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

constexpr std::array kSignals = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP};

/// The run is over, and its status is no other one because of what comes now.
void ignore_from_now_on(asio::signal_set& signals) {
  signals.clear();
  for (const int signal : kSignals) std::signal(signal, SIG_IGN);
}

/// A run that is told to end and does not, since nobody reads its output, is left after the grace and this;
/// after a moment when every command has ended, in which a reader who does read has the rest.
constexpr std::chrono::seconds kLastResort{10};
constexpr std::chrono::milliseconds kAMoment{200};

/// How long podrun waits at its end for a way in that has its TERM. Most end at once.
constexpr std::chrono::milliseconds kEndOfWaysIn{2'000};

/// Stops podrun, as far as the system lets a terminal stop it: not where nobody could make it go on.
void stop_here(asio::signal_set& signals) {
  signals.remove(SIGTSTP);
  ::raise(SIGTSTP);
  signals.add(SIGTSTP);
}

/// `own_patience`: see Purpose.
asio::awaitable<void> relay_signals(asio::signal_set& signals, FanOut& fan_out, StatusDisplay& status,
                                    std::chrono::seconds grace,
                                    std::optional<std::chrono::milliseconds> own_patience,
                                    std::function<void()> leave) {
  asio::steady_timer last_resort(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
  for (;;) {
    const int signal = co_await signals.async_wait(asio::use_awaitable);
    if (signal == SIGTSTP) {
      status.hide();
      co_await fan_out.suspend();
      stop_here(signals);
      fan_out.resume();
      status.show();
    } else {
      // Asked before the policy is: a run that this cancels has its last words to say.
      const bool only_output = only_output_is_left(fan_out.status());
      const bool pressed = signal == SIGINT || signal == SIGQUIT;
      fan_out.interrupt(signal);
      if (pressed && !only_output && !own_patience) continue;
      const auto patience = only_output ? kAMoment : own_patience.value_or(grace + kLastResort);
      const TimePoint due = std::chrono::steady_clock::now() + patience;
      if (due >= last_resort.expiry()) continue;
      last_resort.expires_at(due);
      last_resort.async_wait([leave](const std::error_code& error) {
        if (!error) leave();
      });
    }
  }
}

/// What all attempts of a run share.
struct Run {
  Plan plan;
  const Options& options;
  const Probe& probe;
  std::shared_ptr<Terminal> terminal;
  SshState ssh;
  std::size_t descriptor_limit;  ///< before it was raised
  bool io_failed = false;        ///< of this attempt
  StatusStyle status_style;
  std::unique_ptr<Purpose> purpose = nullptr;
};

int status_of(const Run& run, const RunPolicy& policy) {
  return run.io_failed ? kIoStatus : run.purpose->status(policy);
}

volatile std::sig_atomic_t g_signal_while_asking = 0;

/// While the user is asked, nothing runs that would take signals from the io_context. So these only tell the
/// question to end.
class SignalsWhileAsking {
 public:
  explicit SignalsWhileAsking(asio::signal_set& signals) : signals_(signals) {
    g_signal_while_asking = 0;
    for (const int signal : kEnding) {
      if (is_ignored(signal)) continue;
      signals_.remove(signal);
      std::signal(signal, [](int number) { g_signal_while_asking = number; });
    }
  }
  SignalsWhileAsking(const SignalsWhileAsking&) = delete;
  SignalsWhileAsking& operator=(const SignalsWhileAsking&) = delete;
  ~SignalsWhileAsking() {
    for (const int signal : kEnding) {
      if (!is_ignored(signal)) signals_.add(signal);
    }
  }

 private:
  static constexpr std::array kEnding = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  asio::signal_set& signals_;
};

enum class Next { leave, connect_again, go_without_answer };

/// Blocks until the user has answered what this attempt has left open.
Next ask(Run& run, FanOut& fan_out, Output& output, asio::signal_set& signals) {
  const SignalsWhileAsking asking(signals);
  try {
    const bool again = answer_questions(run.ssh, [] { return g_signal_while_asking != 0; });
    if (g_signal_while_asking != 0) throw QuestionInterrupted();
    if (again) return Next::connect_again;
  } catch (const QuestionInterrupted&) {
    fan_out.interrupt(g_signal_while_asking != 0 ? g_signal_while_asking : SIGINT);
    return Next::leave;
  } catch (const AskedInBackground&) {
    output.say(
        "podrun: in the background no question can be asked (run podrun in the foreground, under "
        "timeout(1) with its --foreground)");
  }
  return run.plan.run.limits.on_unreachable == OnUnreachable::skip ? Next::go_without_answer : Next::leave;
}

/// An attempt of the run from its start to the last line of its summary.
asio::awaitable<Next> run_to_the_end(Run& run, FanOut& fan_out, Output& output, StatusDisplay& status,
                                     asio::signal_set& signals) {
  run.purpose->begin(output);
  co_await fan_out.run();
  status.hide();
  output.finish();
  const RunPolicy& policy = fan_out.policy();
  if (waits_for_answer(run.plan.run.limits, policy)) {
    co_await output.drain();
    const Next next = ask(run, fan_out, output, signals);
    if (next != Next::leave) co_return next;
  }
  co_await output.drain();  // by now the sinks know everything
  const std::string& warning = run.ssh.host_keys.warning();
  if (!warning.empty()) output.say("podrun: " + warning);
  run.purpose->conclude(output, policy, status_of(run, policy));
  co_await output.drain();
  co_return Next::leave;
}

/// Nothing: the user was asked, and the run is to be tried again, as the plan now says.
std::optional<int> try_to_run(Run& run) {
  const std::vector<Host>& hosts = run.plan.run.hosts;
  const auto context = std::make_shared<asio::io_context>(1);
  const auto executor = context->get_executor();
  const Connectors connectors(context, run.options, run.plan, run.ssh, run.probe, run.descriptor_limit);
  FanOut* interruptible = nullptr;
  std::optional<LossNotices> losses;
  run.io_failed = false;
  std::optional<Output> output;
  output.emplace(executor, hosts.size(), run.purpose->make_sinks(*run.terminal), run.terminal,
                 [&](const WriteError& error) {
                   if (!error.broken_pipe) output->say("podrun: cannot write " + error.what);
                   run.io_failed = run.io_failed || !error.broken_pipe;
                   if (interruptible && !error.is_side) interruptible->interrupt(SIGPIPE);
                 });
  run.ssh.host_keys.on_changed([&output](const std::string& warning) { output->say("podrun: " + warning); });
  std::optional<Input> input;
  if (run.options.feed_input) {
    input.emplace(context, STDIN_FILENO, hosts.size(), [&](std::error_code error) {
      output->say(fmt::format("podrun: cannot read standard input: {}", error.message()));
      run.io_failed = true;
      if (interruptible) interruptible->interrupt(SIGPIPE);
    });
  }
  const std::function<void()> leave = [&] {
    output->abandon();
    run.terminal->say_at_once(leave_line(interruptible->status(), std::chrono::steady_clock::now()));
    kill_ways_in(std::chrono::milliseconds(0));
    std::_Exit(128 + interruptible->policy().interrupted_by().value_or(SIGINT));
  };
  FanOut fan_out(run.plan.run,
                 {.executor = executor,
                  .connector_for = [&](const Host& host) -> Connector& { return connectors.at(host); },
                  .output = *output,
                  .input = input ? &*input : nullptr,
                  .leave = leave,
                  .host_started = [&](std::size_t host) { run.purpose->host_started(*output, host); },
                  .host_ended =
                      [&](std::size_t host) {
                        run.purpose->host_ended(*output, host, interruptible->policy().outcomes()[host]);
                        losses->host_ended(host);
                      }});
  interruptible = &fan_out;
  losses.emplace(executor, fan_out, *output);

  StatusDisplay status(executor, fan_out, *output, run.status_style);
  asio::signal_set signals(executor);
  for (const int signal : kSignals) {
    if (!is_ignored(signal)) signals.add(signal);
  }
  const auto rethrow = [](const std::exception_ptr& error) {
    if (error) std::rethrow_exception(error);
  };
  asio::co_spawn(
      executor,
      relay_signals(signals, fan_out, status, run.plan.run.limits.grace, run.purpose->patience(), leave),
      rethrow);
  Next next = Next::leave;
  asio::co_spawn(executor, run_to_the_end(run, fan_out, *output, status, signals),
                 [&](const std::exception_ptr& error, Next decided) {
                   rethrow(error);
                   next = decided;
                   context->stop();
                 });
  context->run();
  output.reset();  // joins its thread: the terminal is ours again
  if (next == Next::go_without_answer) run.plan.run.limits.questions = Questions::none;
  if (next != Next::leave) return std::nullopt;
  ignore_from_now_on(signals);
  for (const StreamId stream : {StreamId::out, StreamId::err}) {
    const std::error_code error = run.terminal->error(stream);
    if (error == std::errc::broken_pipe) return kBrokenPipeStatus;
    if (error == std::errc::io_error && run.terminal->is_terminal(stream)) return kHangUpStatus;
  }
  return status_of(run, fan_out.policy());
}

void say(const std::vector<std::string>& notes, Terminal& terminal) {
  for (const std::string& note : notes)
    terminal.append(StreamId::err, {"podrun: ", escape_controls(note), "\n"});
  terminal.flush();
}

/// Reads the keys of the user and of the hosts, and says what was passed over.
void load(const Plan& plan, SshState& ssh, Terminal& terminal) {
  for (const SshSettings& settings : plan.ssh.settings) {
    ssh.host_keys.load(settings);
    ssh.identities.find(settings);
  }
  std::vector<std::string> notes = ssh.identities.warnings();
  if (plan.run.verbosity > 0) {
    for (const std::string& keyword : plan.ssh.config->passed_over())
      notes.push_back(keyword + " changes nothing here: passed over");
    for (const std::string& note : ssh.host_keys.passed_over()) notes.push_back(note + ": passed over");
    for (const std::string& note : ssh.identities.passed_over()) notes.push_back(note + ": passed over");
  }
  say(notes, terminal);
}

std::unique_ptr<Purpose> make_purpose(const Run& run) {
  const Charset charset = run.status_style.charset;
  if (run.options.task == Task::check) return make_check_purpose(run.plan, run.options, charset);
  return make_command_purpose(run.plan, run.options, run.probe, charset);
}

int run_plan(Plan plan, const Options& options, const Probe& probe,
             const std::shared_ptr<Terminal>& terminal) {
  const HostCount ways = count_ways(options, plan);
  const DescriptorLimit descriptors = raise_descriptor_limit(ways);
  plan.run.limits.fanout = descriptors.at_once;
  if (can_ask_on_terminal()) plan.run.limits.questions = Questions::can_be_asked;
  Run run{.plan = plan,
          .options = options,
          .probe = probe,
          .terminal = terminal,
          .ssh = SshState(plan.ssh.home),
          .descriptor_limit = descriptors.before,
          .io_failed = false,
          .status_style = choose_status_style(options, probe)};
  if (ways.by_ssh > 0) load(run.plan, run.ssh, *terminal);
  terminal->set_charset(run.status_style.charset);
  run.purpose = make_purpose(run);
  for (;;) {
    const auto status = try_to_run(run);
    kill_ways_in(kEndOfWaysIn);
    if (status) return *status;
  }
}

int answer(const std::string& text, Terminal& terminal) {
  terminal.append(StreamId::out, {text});
  terminal.flush();
  const std::error_code error = terminal.error(StreamId::out);
  if (!error) return 0;
  if (error != std::errc::broken_pipe) say({"cannot write standard output: " + error.message()}, terminal);
  return kIoStatus;
}

int show_hosts(const Options& options, const Probe& probe, Terminal& terminal) {
  try {
    const HostsAnswer hosts = answer_hosts(options, probe);
    say(hosts.notes, terminal);
    return answer(hosts.text, terminal);
  } catch (const NoHosts& error) {
    say(to_texts(error.tried), terminal);
    throw;
  }
}

/// Becomes the user's ssh; returns only where there is nothing to become.
int run_ssh(const Options& options, const Probe& probe, Terminal& terminal) {
  std::vector<std::string> words = ssh_command(options, probe);
  const std::string line = shell_quote(words);
  if (options.dry_run) return answer(line + '\n', terminal);
  if (options.verbosity > 0) say({line}, terminal);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  ::execvp(argv.front(), argv.data());
  const int error = errno;
  say({fmt::format("ssh: cannot start it: {} (expected OpenSSH's client in $PATH)", std::strerror(error))},
      terminal);
  return error == ENOENT ? kNotFoundStatus : kCannotRunStatus;
}

int dispatch(const std::vector<std::string>& arguments, const std::shared_ptr<Terminal>& terminal) {
  const std::unique_ptr<Probe> probe = make_system_probe();
  const auto parsed = parse_options(arguments, *probe);
  if (const auto* text = std::get_if<Answer>(&parsed)) return answer(text->text, *terminal);
  const Options& options = std::get<Options>(parsed);
  switch (options.task) {
    case Task::hosts:
      return show_hosts(options, *probe, *terminal);
    case Task::ssh:
      return run_ssh(options, *probe, *terminal);
    case Task::config:  // answered by parse_options
    case Task::check:
    case Task::run:
      break;
  }
  const bool checks = options.task == Task::check;
  if (!checks && !options.words && !options.script && is_terminal(STDIN_FILENO)) {
    if (options.arguments.empty()) return answer(help_text(), *terminal);
    throw UsageError("no command (podrun [OPTIONS] -- COMMAND)");
  }
  const Plan plan = checks ? make_check_plan(options, *probe) : make_plan(options, *probe);
  say(plan.notes, *terminal);
  if (options.dry_run) return answer(describe_plan(plan), *terminal);
  return run_plan(plan, options, *probe, terminal);
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
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not grow
  return podrun::guarded_main({argv + 1, argv + argc});
}
