// SPDX-License-Identifier: Apache-2.0
// `podrun pull`: a run that copies files before the hosts are ready, and whose command does nothing.
#include "commands/pull_command.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/base/text.hpp"
#include "podrun/files/pull.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/run/outcome.hpp"

#include "cli/option_values.hpp"
#include "commands/command_mode.hpp"
#include "commands/plan.hpp"
#include "commands/run_sequence.hpp"

namespace podrun::commands {
namespace {

constexpr int kPartStatus = 1;
constexpr std::chrono::milliseconds kPatience{2'500};

/// A failure after which the host has answered: not all that was asked for came.
bool is_part(const run::HostOutcome& outcome) {
  const link::Failure* failure = run::failure_of(outcome);
  return failure && failure->stage == link::Stage::copying;
}

class PullMode final : public CommandMode {
 public:
  PullMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe, output::Charset charset,
           files::Pull& pull, const std::string& destination)
      : CommandMode(plan, options, probe, charset),
        pull_(pull),
        destination_(destination),
        over_(plan.run.hosts.size()),
        told_(plan.run.hosts.size()) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override {
    over_.assign(over_.size(), false);
    return CommandMode::make_sinks(terminal);
  }

  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) override {
    over_[host] = true;
    if (is_done(outcome)) tell_received(output, host);
    CommandMode::host_ended(output, host, outcome);
  }

  PrepareHost preparation() override {
    return
        [this](std::size_t host, remote::Supervised& supervised) { return pull_.prepare(host, supervised); };
  }

  std::optional<run::TransferStatus> transfer() const override {
    run::TransferSum sum;
    bool is_total_known = true;
    const std::vector<files::PulledHost>& pulled = pull_.pulled();
    for (std::size_t host = 0; host < pulled.size(); ++host) {
      const files::PulledHost& each = pulled[host];
      const std::uint64_t received = std::min(each.received, each.total);
      const std::uint64_t done = each.is_active || over_[host] ? received : each.total;
      const std::uint64_t total = over_[host] ? received : each.total;  // no more is to be expected
      sum.add(plan().run.hosts[host].worker, done, total);
      is_total_known = is_total_known && (each.is_listed || over_[host]);
    }
    run::TransferStatus status = sum.status();
    status.is_total_known = is_total_known;
    return status;
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    for (std::size_t host = 0; host < told_.size(); ++host) {
      if (is_part(policy.outcomes()[host])) tell_received(output, host);
    }
    CommandMode::print_final_report(output, policy, status);
    if (options().dry_run && !json()) print_paths(output);
    print_total(output, policy);
  }

  int status(const run::RunPolicy& policy) const override {
    if (policy.interrupted_by()) return 128 + *policy.interrupted_by();
    std::vector<run::HostOutcome> outcomes = policy.outcomes();
    for (run::HostOutcome& outcome : outcomes) {
      if (is_part(outcome)) outcome = link::Exited{kPartStatus};
    }
    return run::exit_status(outcomes, std::nullopt);
  }

  bool reports_first_failures() const override { return false; }
  std::optional<std::chrono::milliseconds> patience() const override { return kPatience; }

 private:
  static bool is_done(const run::HostOutcome& outcome) { return run::has_succeeded(outcome); }

  /// With --json: once for each host, before its end is told.
  void tell_received(output::Output& output, std::size_t host) {
    if (!json() || told_[host]) return;
    told_[host] = true;
    const files::PulledHost& pulled = pull_.pulled()[host];
    json()->received(output, host, {pull_.directory_of(host), pulled.files, pulled.bytes, pulled.unchanged});
  }

  /// With --dry-run: where each file would go.
  void print_paths(output::Output& output) const {
    for (std::size_t host = 0; host < told_.size(); ++host) {
      for (const std::string& path : pull_.pulled()[host].chosen)
        output.print(output::escape_controls(fmt::format("{}/{}", pull_.directory_of(host), path)));
    }
  }

  /// `podrun: 12 files (3.4 MB) from 4 hosts to out · 20 are here already`
  void print_total(output::Output& output, const run::RunPolicy& policy) const {
    files::PulledHost all;
    std::size_t answered = 0;
    for (std::size_t host = 0; host < told_.size(); ++host) {
      const files::PulledHost& each = pull_.pulled()[host];
      all.files += each.files;
      all.bytes += each.bytes;
      all.unchanged += each.unchanged;
      all.special += each.special;
      const run::HostOutcome& outcome = policy.outcomes()[host];
      // A host that failed before anything came is not one of those that the files are from.
      if (is_done(outcome) || (is_part(outcome) && each.files + each.unchanged > 0)) ++answered;
    }
    if (answered == 0) return;
    std::vector<std::string> parts = {
        fmt::format("{} file{} ({}){} from {} to {}", all.files, all.files == 1 ? "" : "s",
                    format_bytes(all.bytes), options().dry_run ? " would come" : "", count_hosts(answered),
                    output::escape_controls(destination_))};
    if (all.unchanged > 0)
      parts.push_back(fmt::format("{} {} here already", all.unchanged, all.unchanged == 1 ? "is" : "are"));
    if (all.special > 0)
      parts.push_back(fmt::format("{} not copied (sockets, devices or FIFOs)", all.special));
    output.say("podrun: " + join(parts, output::separator(charset())));
  }

  files::Pull& pull_;
  const std::string& destination_;
  std::vector<bool> over_;  ///< of each host: nothing more comes
  std::vector<bool> told_;  ///< its `received` event is printed
};

Plan make_pull_plan(const cli::Options& options, const hosts::Probe& probe) {
  remote::RemoteCommand nothing{"set -- /bin/sh -c :", {}};
  Plan plan = make_plan(options, probe, std::move(nothing));
  plan.work = report::Work::answers;
  run_where_reachable(plan);
  plan.run.limits.timeout.reset();
  plan.run.supervision.directory.clear();
  return plan;
}

/// Makes DEST, so that a mistake is told before podrun connects.
void make_destination(const std::string& destination) {
  std::error_code error;
  std::filesystem::create_directories(destination, error);
  if (!error && !std::filesystem::is_directory(destination, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    throw UsageError(fmt::format("pull: cannot make the directory \"{}\": {}", destination, error.message()));
  }
}

class PullCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    table.value({.topic = "podrun pull",
                 .set = cli::OptionSet::own,
                 .names = "--max-size",
                 .help = "Copy nothing from a host that has more than SIZE to copy: 500M, 2GiB",
                 .type = "SIZE"},
                [this](const std::string& text) { max_size_ = cli::parse_size(text); });
  }

  int run(const cli::Context& context) override {
    files::PullRequest request{.words = context.options.operands,
                               .destination = {},
                               .max_size = max_size_,
                               .only_look = context.options.dry_run,
                               .max_files = context.options.max_files};
    const std::string destination = request.words.back();
    request.destination = destination;
    request.words.pop_back();
    if (destination.empty()) throw UsageError("pull: an empty destination (expected a local directory)");
    check_current_directory(fmt::format("pull: {}", destination), destination);
    Plan plan = make_pull_plan(context.options, context.probe);
    plan.files = report::FilesToSend{.sources = request.words, .target = destination, .is_counted = false};
    files::Pull pull(std::move(request), plan.run.hosts);
    if (!context.options.dry_run) make_destination(destination);
    RunSequence alone(plan, context, RunSequence::Connections::closed);
    return alone.run(std::move(plan), context.options, [&](const Plan& started, output::Charset charset) {
      return std::make_unique<PullMode>(started, context.options, context.probe, charset, pull, destination);
    });
  }

 private:
  std::optional<std::uint64_t> max_size_;
};

}  // namespace

std::unique_ptr<cli::Command> make_pull_command() { return std::make_unique<PullCommand>(); }

}  // namespace podrun::commands
