// SPDX-License-Identifier: Apache-2.0
// `podrun push`: a run whose hosts get files before they are ready, and whose command puts these in place.
#include "commands/push_command.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/remote/supervised.hpp"
#include "podrun/report/transfer_words.hpp"

#include "cli/run_options.hpp"
#include "commands/command_mode.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {
namespace {

class PushMode final : public CommandMode {
 public:
  PushMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe, output::Charset charset,
           files::Push& push)
      : CommandMode(plan, options, probe, charset), push_(push) {}

  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) override {
    if (json() && is_done(outcome)) json()->sent(output, host, sent(host));
    CommandMode::host_ended(output, host, outcome);
  }

  PrepareHost preparation() override {
    push_.begin_attempt();
    return
        [this](std::size_t host, remote::Supervised& supervised) { return push_.prepare(host, supervised); };
  }

  std::optional<run::TransferStatus> transfer() const override {
    run::TransferSum sum;
    bool is_total_known = true;
    const std::vector<files::HostShare>& shares = push_.shares();
    for (std::size_t host = 0; host < shares.size(); ++host) {
      sum.add(plan().run.hosts[host].worker, shares[host].sent, shares[host].total);
      is_total_known = is_total_known && (shares[host].total > 0 || shares[host].is_staged);
    }
    run::TransferStatus status = sum.status();
    status.is_total_known = is_total_known;
    if (is_total_known) status.left = time_left();
    return status;
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    CommandMode::print_final_report(output, policy, status);
    if (options().dry_run && !json()) print_shares(output, policy);
    print_total(output, policy);
  }

  std::string question() const override {
    if (!push_.deletes_all()) return {};
    const files::PushRequest& request = push_.request();
    return output::escape_controls(
        fmt::format("Nothing of what the hosts have in \"{}\" is in \"{}\". Delete all of it (yes/no)? ",
                    request.target, request.tree.sources.front()));
  }

  void agree() override { push_.allow_delete_all(); }

  /// The first one ends the others.
  bool reports_first_failures() const override { return false; }

 private:
  /// Until the slowest host has everything, at the rate that it has had.
  std::optional<std::chrono::seconds> time_left() const {
    using Seconds = std::chrono::duration<double>;
    std::optional<Seconds> longest;
    for (const files::HostShare& share : push_.shares()) {
      if (share.sent == 0 || share.sent >= share.total) continue;
      const Seconds so_far = std::chrono::steady_clock::now() - share.began;
      const Seconds left =
          so_far * static_cast<double>(share.total - share.sent) / static_cast<double>(share.sent);
      if (!longest || left > *longest) longest = left;
    }
    if (!longest) return std::nullopt;
    return std::chrono::ceil<std::chrono::seconds>(*longest);
  }

  static bool is_done(const run::HostOutcome& outcome) { return run::has_succeeded(outcome); }

  report::FilesSent sent(std::size_t host) const {
    const files::HostShare& share = push_.shares()[host];
    report::FilesSent sent{share.files, share.bytes, share.deleted.size(), std::nullopt,
                           share.replaced_links.size()};
    if (share.shared_with) sent.shared_with = plan().run.hosts[*share.shared_with].worker;
    return sent;
  }

  void print_total(output::Output& output, const run::RunPolicy& policy) const {
    std::vector<report::HostTransfer> done;
    for (std::size_t host = 0; host < plan().run.hosts.size(); ++host) {
      if (is_done(policy.outcomes()[host]))
        done.push_back({plan().run.hosts[host].worker, sent(host), push_.shares()[host].has_attributes});
    }
    const auto tense = options().dry_run ? report::Tense::would : report::Tense::did;
    if (!done.empty())
      output.say("podrun: " + report::describe_transfers(done, plan().files->ignored, tense,
                                                         output::separator(charset())));
  }

  /// With --dry-run: what each host would get, once for hosts that would get the same.
  void print_shares(output::Output& output, const run::RunPolicy& policy) const {
    std::vector<report::PlannedTransfer> planned;
    const std::vector<files::Entry>& entries = push_.tree().entries();
    for (std::size_t host = 0; host < plan().run.hosts.size(); ++host) {
      if (!is_done(policy.outcomes()[host])) continue;
      report::PlannedTransfer& each = planned.emplace_back();
      each.host = host;
      for (const std::size_t index : push_.shares()[host].chosen) {
        const files::Entry& entry = entries[index];
        each.sent.push_back(entry.kind == files::Kind::directory ? entry.path + '/' : entry.path);
      }
      for (const std::size_t index : push_.shares()[host].replaced_links)
        each.replaced_links.push_back(entries[index].path);
      for (const files::HostOnly& path : push_.shares()[host].deleted)
        each.deleted.push_back(path.is_directory ? path.path + '/' : path.path);
    }
    for (std::string& line : report::list_transfers(plan().run.hosts, planned)) output.print(std::move(line));
  }

  files::Push& push_;
};

report::FilesToSend describe(const files::Push& push) {
  const files::PushRequest& request = push.request();
  report::FilesToSend files{.sources = request.tree.sources, .target = request.target};
  for (const files::Entry& entry : push.tree().entries()) {
    if (entry.kind != files::Kind::directory) ++files.count;
    files.bytes += entry.size;
  }
  files.ignored = push.tree().ignored();
  return files;
}

/// A plan for the hosts of another one.
Plan make_push_plan(const cli::Options& options, Plan plan) {
  plan.command = {};
  plan.run.command = {options.dry_run ? "set -- true" : files::switch_command(), {}};
  plan.run.run_id = remote::random_id();
  plan.work = report::Work::files;
  run::Limits& limits = plan.run.limits;
  limits.serial = 0;  // whatever a configuration says of commands
  limits.on_failure = run::OnFailure::go_on;
  limits.on_unreachable = run::OnUnreachable::stop;
  limits.may_wait_for_each_other = false;
  limits.timeout.reset();
  plan.run.supervision.preparations.clear();
  plan.run.supervision.directory.clear();
  plan.run.supervision.run_directory = remote::RunDirectory::yes;
  return plan;
}

/// Whether the path, by its text alone, is the home directory, the root directory or one that only `..` parts
/// reach. The hosts check again, with links resolved.
bool is_root_or_home(std::string_view target) {
  if (target.starts_with('~')) target.remove_prefix(1);
  const std::vector<std::string_view> parts = split(target, '/');
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

class PushCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const auto row = [](std::string_view names, std::string_view help, std::string_view type = {}) {
      return cli::OptionRow{
          .topic = "podrun push", .set = cli::OptionSet::own, .names = names, .help = help, .type = type};
    };
    table.flag(row("--checksum", "Compare files by contents, not by size and time"), [this](bool is_on) {
      request_.compare = is_on ? files::Compare::contents : files::Compare::size_and_time;
    });
    table.flag(row("--delete", "Delete files that exist only on the hosts, except ignored ones"),
               [this](bool is_on) { request_.remove = is_on ? files::Delete::yes : files::Delete::no; });
    table.flag(row("--keep-dir-links", "Write through links to directories on the hosts, as rsync -K does"),
               [this](bool is_on) { request_.keep_dir_links = is_on; });
    table.list(row("--exclude", "Also ignore files that match PATTERN, as in gitignore(5)", "PATTERN"),
               [this](const std::string& text) { request_.tree.excludes.push_back(text); });
    table.flag(row("--no-ignore", "Send ignored files too (.gitignore, .podrunignore) and .git"),
               [this](bool is_on) { request_.tree.ignore = !is_on; });
  }

  void check(cli::Options& options, const cli::OptionTable& /*table*/) override {
    if (options.force && request_.remove == files::Delete::no)
      throw UsageError("--force: it belongs to --delete (leave it out)");
    request_.may_delete_all = options.force;
  }

  int run(const cli::Context& context) override {
    files::PushRequest request = request_;
    request.tree.sources = context.options.operands;
    request.target = request.tree.sources.back();
    request.tree.sources.pop_back();
    request.only_look = context.options.dry_run;
    request.max_files = context.options.max_files;
    Plan found = make_plan(context.options, context.probe, remote::RemoteCommand{});
    PlannedPush push(std::move(request), std::move(found), context.options);
    RunSequence alone(push.plan(), context, RunSequence::Connections::closed);
    return push.run(alone, context.probe);
  }

 private:
  files::PushRequest request_;
};

/// --delete is for what one directory has.
void check_delete(const files::PushRequest& request, const files::Push& push) {
  if (request.remove == files::Delete::no) return;
  const std::vector<files::Entry>& entries = push.tree().entries();
  const bool is_directory = !entries.empty() && entries.front().kind == files::Kind::directory;
  if (request.tree.sources.size() != 1 || !is_directory)
    throw UsageError("push: --delete needs a single directory as its source");
  if (!entries.front().path.empty()) return;
  if (is_root_or_home(request.target)) {
    throw UsageError(fmt::format(
        "push: --delete refuses \"{}\": it would delete everything else there (name a directory below it)",
        request.target));
  }
}

}  // namespace

std::unique_ptr<cli::Command> make_push_command() { return std::make_unique<PushCommand>(); }

PlannedPush::PlannedPush(files::PushRequest request, Plan found, const cli::Options& options)
    : options_(options),
      plan_(make_push_plan(options, std::move(found))),
      push_(std::move(request), plan_.run.hosts.size()) {
  check_delete(push_.request(), push_);
  plan_.files = describe(push_);
  for (const std::string& path : push_.tree().special())
    plan_.notes.push_back(fmt::format("push: {}: not a file, a directory or a link: not copied", path));
}

int PlannedPush::run(RunSequence& sequence, const hosts::Probe& probe) {
  return sequence.run(std::move(plan_), options_, [&](const Plan& started, output::Charset charset) {
    return std::make_unique<PushMode>(started, options_, probe, charset, push_);
  });
}

}  // namespace podrun::commands
