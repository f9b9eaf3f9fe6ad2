// SPDX-License-Identifier: Apache-2.0
// The run of `podrun pull`: it copies files before the hosts are ready, and its command does nothing.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/transfer/pull.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

constexpr int kPartStatus = 1;

/// A failure after which the host has answered: not all that was asked for came.
bool is_part(const run::HostOutcome& outcome) {
  const link::Failure* failure = run::failure_of(outcome);
  return failure && failure->stage == kCopying;
}

class PullMode final : public session::CommandMode, private session::HostPreparation {
 public:
  PullMode(const session::RunSpec& run, const session::Session& session, Pull& pull)
      : CommandMode(run, session),
        pull_(pull),
        over_(run.plan.hosts.size()),
        reported_(run.plan.hosts.size()) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override {
    over_.assign(over_.size(), false);
    return CommandMode::make_sinks(terminal);
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    for (std::size_t host = 0; host < reported_.size(); ++host) {
      if (is_part(policy.outcomes()[host])) report_received(output, host);
    }
    CommandMode::print_final_report(output, policy, status);
    if (pull_.request().only_look && !json()) print_paths(output);
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

  session::HostPreparation* preparation() override { return this; }

 private:
  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) override {
    over_[host] = true;
    if (run::has_succeeded(outcome)) report_received(output, host);
  }

  link::Stage stage() const override { return kCopying; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    return pull_.prepare(host, supervised);
  }

  void complete(run::Status& status) const override { status.transfer = transfer(); }

  run::TransferStatus transfer() const {
    run::TransferSum sum;
    bool is_total_known = true;
    const std::vector<PulledHost>& pulled = pull_.pulled();
    for (std::size_t host = 0; host < pulled.size(); ++host) {
      const PulledHost& each = pulled[host];
      const std::uint64_t received = std::min(each.received, each.total);
      const std::uint64_t done = each.is_active || over_[host] ? received : each.total;
      const std::uint64_t total = over_[host] ? received : each.total;  // no more is to be expected
      sum.add(run_spec().plan.hosts[host].worker, done, total);
      is_total_known = is_total_known && (each.is_listed || over_[host]);
    }
    run::TransferStatus status = sum.status();
    status.is_total_known = is_total_known;
    return status;
  }

  /// With --json: once for each host, before its exit event.
  void report_received(output::Output& output, std::size_t host) {
    if (!json() || reported_[host]) return;
    reported_[host] = true;
    const PulledHost& pulled = pull_.pulled()[host];
    json()->received(output, host, {pull_.directory_of(host), pulled.files, pulled.bytes, pulled.unchanged});
  }

  /// With --dry-run: where each file would go.
  void print_paths(output::Output& output) const {
    for (std::size_t host = 0; host < reported_.size(); ++host) {
      for (const std::string& path : pull_.pulled()[host].chosen)
        output.print(output::escape_controls(fmt::format("{}/{}", pull_.directory_of(host), path)));
    }
  }

  /// `podrun: 12 files (3.4 MB) from 4 hosts to out · 20 are here already`
  void print_total(output::Output& output, const run::RunPolicy& policy) const {
    if (run_spec().view.quiet) return;
    PulledHost all;
    std::size_t answered = 0;
    for (std::size_t host = 0; host < reported_.size(); ++host) {
      const PulledHost& each = pull_.pulled()[host];
      all.files += each.files;
      all.bytes += each.bytes;
      all.unchanged += each.unchanged;
      all.special += each.special;
      const run::HostOutcome& outcome = policy.outcomes()[host];
      // A host that failed before anything came is not one of those that the files are from.
      if (run::has_succeeded(outcome) || (is_part(outcome) && each.files + each.unchanged > 0)) ++answered;
    }
    if (answered == 0) return;
    std::vector<std::string> parts = {fmt::format("{} file{} ({}){} from {} to {}", all.files,
                                                  all.files == 1 ? "" : "s", format_bytes(all.bytes),
                                                  pull_.request().only_look ? " would come" : "",
                                                  count_hosts(answered), output::escape_controls(place()))};
    if (all.unchanged > 0)
      parts.push_back(fmt::format("{} {} here already", all.unchanged, all.unchanged == 1 ? "is" : "are"));
    if (all.special > 0)
      parts.push_back(fmt::format("{} not copied (sockets, devices or FIFOs)", all.special));
    output.say("podrun: " + join(parts, output::separator(charset())));
  }

  /// Where the files are; for one host also how to have them without its directory.
  std::string place() const {
    const std::string& destination = pull_.request().destination;
    if (reported_.size() > 1 || pull_.request().is_flat) return destination;
    return fmt::format("{} (--flat: to {})", pull_.directory_of(0), destination);
  }

  Pull& pull_;
  std::vector<bool> over_;      ///< of each host: nothing more comes
  std::vector<bool> reported_;  ///< its `received` event is printed
};

}  // namespace

PullRun::PullRun(PullRequest request, const session::SessionSpec& session, session::View view,
                 std::function<std::string(const std::string&)> retry_command)
    : run_(session::whoever_answers(session, {"set -- /bin/sh -c :", {}}, std::nullopt)),
      pull_(std::move(request), session.hosts) {
  run_.files = report::FilesToSend{
      .sources = pull_.request().words, .target = pull_.request().destination, .is_counted = false};
  run_.view = std::move(view);
  run_.retry_command = std::move(retry_command);
  run_.plan.limits.patience = session::kPatience;
}

int PullRun::run(session::Session& session) {
  running_.call("PullRun::run() is called once");
  PullMode mode(run_, session, pull_);
  return session.run(run_, mode).status;
}

}  // namespace podrun::transfer
