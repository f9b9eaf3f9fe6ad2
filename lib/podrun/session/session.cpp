// SPDX-License-Identifier: Apache-2.0
// The runs of a session share connectors, kept connections, keys, signals and the terminal. A run is a
// sequence of passes, with a question to the user before each but the first.
#include "podrun/session/session.hpp"

#include <csignal>
#include <utility>

#include "podrun/base/error.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/session/pass.hpp"
#include "podrun/session/questions.hpp"

namespace podrun::session {
namespace {

local::DescriptorLimit descriptor_limit(bool owns_process, const local::HostCount& counts) {
  if (owns_process) return local::raise_descriptor_limit(counts);
  return {.at_once = counts.at_once};
}

/// Reports what is ignored of the keys and of ssh_config(5).
void report_ignored(const SessionSpec& spec, const reach::SshState& ssh) {
  std::vector<std::string> notes = ssh.identities.warnings();
  if (spec.verbosity > 0) {
    for (const std::string& keyword : spec.reach.config->ignored())
      notes.push_back(keyword + " has no effect here: ignored");
    for (const std::string& note : ssh.host_keys.ignored()) notes.push_back(note + ": ignored");
    for (const std::string& note : ssh.identities.ignored()) notes.push_back(note + ": ignored");
  }
  output::print_notes(notes, *spec.terminal);
}

}  // namespace

int Mode::status(const run::RunPolicy& policy) const {
  return run::exit_status(policy.outcomes(), policy.interrupted_by());
}

Session::Shared::Shared(const SessionSpec& session, const hosts::Probe& of_machine, Connections between_runs)
    : spec(session),
      probe(of_machine),
      counts(reach::count_hosts(spec.reach, spec.hosts, spec.limits.fanout)),
      descriptors(descriptor_limit(spec.owns_process, counts)),
      ssh(spec.reach),
      connector(spec.make_connector ? spec.make_connector(io->get_executor()) : nullptr),
      connections(between_runs),
      signals(io->get_executor()) {
  if (!connector) make_connectors();
}

void Session::Shared::make_connectors() {
  connectors.emplace(
      io, spec.reach,
      reach::Times{.connect_timeout = spec.limits.connect_timeout, .orphan_timeout = spec.orphan_timeout},
      ssh, probe, descriptors.before, transports.commands);
}

void Session::Shared::move_to(const std::vector<hosts::Host>& hosts) {
  reach::ReachPlan plan = spec.reach;
  run::Limits limits = spec.limits;
  reach::find_settings(plan, hosts, limits);
  spec.hosts = hosts;
  spec.reach = std::move(plan);
  if (!connectors) return;
  ssh.read(spec.reach);
  kept.clear();  // its links use the connectors
  make_connectors();
}

output::Asker Session::Shared::asker() {
  return {.interrupted = [] { return SignalsWhileAsking::received() != 0; },
          .suspend = [this] { stop_foreground(signals); }};
}

link::Connector& Session::Shared::connector_for(const hosts::Host& host) {
  link::Connector& direct = connector ? *connector : connectors->at(host);
  if (connections == Connections::closed) return direct;
  return kept.try_emplace(&direct, direct).first->second;
}

Session::Session(const SessionSpec& spec, const hosts::Probe& probe, Connections connections)
    : shared_(std::make_unique<Shared>(spec, probe, connections)) {
  if (shared_->connectors && shared_->counts.by_ssh > 0) report_ignored(spec, shared_->ssh);
  shared_->spec.terminal->set_charset(spec.status.charset);
  if (spec.owns_process) take_signals(shared_->signals);
}

/// Everything has ended: a signal that arrives after the last session must not change the exit status.
Session::~Session() {
  if (!shared_->spec.owns_process) return;
  if (shared_->spec.is_last)
    ignore_from_now_on(shared_->signals);
  else
    shared_->signals.clear();  // until the next session they end podrun
}

RunResult Session::run(const RunSpec& spec, Mode& mode) {
  thread_.check("a Session is for one thread");
  if (shared_->spec.verbosity != kQuiet) {
    say(std::exchange(shared_->spec.notes, {}));
    say(spec.notes);
  }
  run::RunPlan plan = spec.plan;
  plan.limits.fanout = shared_->descriptors.at_once;
  // While a run is held, the terminal is used otherwise.
  if (shared_->spec.owns_process && !plan.limits.held && output::can_ask_on_terminal())
    plan.limits.questions = run::Questions::can_be_asked;
  for (;;) {
    Pass::End end = Pass(*shared_, spec, plan, mode).play();
    if (!end.again) return std::move(end.result);
    if (!end.can_ask) plan.limits.questions = run::Questions::none;
  }
}

Session::Answer Session::ask_yes_or_no(const std::string& question) {
  thread_.check("a Session is for one thread");
  const SignalsWhileAsking asking(shared_->signals);
  try {
    const bool is_yes = session::ask_yes_or_no(question, shared_->asker());
    return {.is_yes = is_yes, .signal = SignalsWhileAsking::received()};
  } catch (const output::QuestionInterrupted&) {
    const int received = SignalsWhileAsking::received();
    return {.is_yes = false, .signal = received != 0 ? received : SIGINT};
  } catch (const output::AskedInBackground&) {
    throw UsageError(std::string(kAskedInBackground));
  }
}

std::optional<int> Session::wait_until(run::TimePoint until,
                                       const std::function<output::StatusText(run::TimePoint)>& status) {
  thread_.check("a Session is for one thread");
  output::Terminal& terminal = *shared_->spec.terminal;
  const bool is_painted = shared_->spec.status.way == output::StatusWay::painted;
  std::optional<TypedLines> typed;  // an Enter is not for the run that follows
  if (shared_->spec.status.lists) {
    typed.emplace(shared_->io->get_executor(), [&](TypedLines::Typed) { terminal.lines_typed(1); });
    typed->start();
  }
  const auto paint = [&](bool is_shown) {
    const run::TimePoint now = std::chrono::steady_clock::now();
    terminal.say_status(is_shown ? status(now) : output::StatusText(), std::nullopt);
    if (is_shown) terminal.paint_status(now);
  };
  return wait_for_signal(*shared_->io, shared_->signals, until, [&](bool is_shown) -> std::optional<int> {
    if (is_painted) paint(is_shown);
    const bool is_read = !shared_->spec.needs_reader || !terminal.reader_has_gone();
    return is_read ? std::nullopt : std::optional(SIGPIPE);
  });
}

void Session::move_to(const std::vector<hosts::Host>& hosts) {
  expect(hosts.size() == shared_->spec.hosts.size(), "Session::move_to() keeps the number of hosts");
  shared_->move_to(hosts);
}

const SessionSpec& Session::spec() const { return shared_->spec; }

void Session::say(const std::vector<std::string>& notes) {
  output::print_notes(notes, *shared_->spec.terminal);
}

int Session::answer(const std::string& text) { return output::print_answer(text, *shared_->spec.terminal); }

output::Charset Session::charset() const { return shared_->spec.status.charset; }

const hosts::Probe& Session::probe() const { return shared_->probe; }

}  // namespace podrun::session
