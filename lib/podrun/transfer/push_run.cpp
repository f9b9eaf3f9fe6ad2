// SPDX-License-Identifier: Apache-2.0
// The run of `podrun push`: its hosts get files before they are ready, and its command puts these in place.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"
#include "podrun/output/label.hpp"
#include "podrun/output/question.hpp"
#include "podrun/session/command_mode.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/comparison.hpp"
#include "podrun/transfer/listing.hpp"
#include "podrun/transfer/private_parts.hpp"
#include "podrun/transfer/push.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

class PushMode final : public session::CommandMode, private session::HostPreparation {
 public:
  PushMode(const session::RunSpec& run, const session::Session& session, Push& push)
      : CommandMode(run, session), push_(push) {}

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    CommandMode::print_final_report(output, policy, status);
    if (only_looks() && !json()) print_shares(output, policy);
    print_total(output, policy);
  }

  session::HostPreparation* preparation() override { return this; }

  void notice(output::Output& output, const run::RunPolicy& policy, const run::Notice& notice) override {
    if (const auto* later = std::get_if<run::notice::AttemptLater>(&notice)) push_.retry(later->host);
    if (const auto* begun = std::get_if<run::notice::Connecting>(&notice)) push_.begin_attempt(begun->host);
    if (const auto* abandoned = std::get_if<run::notice::Abandoned>(&notice)) push_.abandon(abandoned->host);
    CommandMode::notice(output, policy, notice);
  }

 private:
  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) override {
    if (json() && run::has_succeeded(outcome) && gets_files(host)) json()->sent(output, host, sent(host));
  }

  bool gets_files(std::size_t host) const { return push_.request().spread.source_host != host; }

  void begin_pass(output::Output& /*output*/) override { push_.begin_pass(); }
  link::Stage stage() const override { return kCopying; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    return push_.prepare(host, supervised);
  }

  void complete(run::Status& status) const override { status.transfer = transfer(); }

  run::TransferStatus transfer() const {
    run::TransferSum sum;
    bool is_total_known = true;
    const std::vector<HostShare>& shares = push_.shares();
    for (std::size_t host = 0; host < shares.size(); ++host) {
      sum.add(run_spec().plan.hosts[host].worker, shares[host].sent, shares[host].total);
      is_total_known = is_total_known && (shares[host].total > 0 || shares[host].is_staged);
    }
    run::TransferStatus status = sum.status();
    status.is_total_known = is_total_known;
    if (is_total_known) status.left = time_left();
    for (std::size_t host = 0; host < shares.size(); ++host) {
      const bool is_slowest = status.slowest == run_spec().plan.hosts[host].worker;
      if (is_slowest && shares[host].parent)
        status.slowest_source = run_spec().plan.hosts[*shares[host].parent].worker;
    }
    const PushRequest& request = push_.request();
    if (request.spread.spreading == Spreading::possible && !request.spread.source_host &&
        would_spreading_help()) {
      status.hint = "--spread would send one copy";
      status.short_hint = "try --spread";
    }
    return status;
  }

  bool would_spreading_help() const {
    constexpr std::chrono::seconds kWorthIt{30};
    return saved_by_spreading(push_.shares(), std::chrono::steady_clock::now()) > kWorthIt;
  }

  std::string question() const override {
    if (!push_.deletes_all()) return {};
    const PushRequest& request = push_.request();
    return output::escape_controls(
        fmt::format("Nothing of what the hosts have in \"{}\" is in \"{}\". Delete all of it (yes/no)? ",
                    request.target, request.sources_for_user().front()));
  }

  void agree() override { push_.allow_delete_all(); }

  bool only_looks() const { return push_.request().only_look; }

  /// Until the slowest host has everything, at the rate that it has had.
  std::optional<std::chrono::seconds> time_left() const {
    using Seconds = std::chrono::duration<double>;
    std::optional<Seconds> longest;
    for (const HostShare& share : push_.shares()) {
      if (share.sent == 0 || share.sent >= share.total) continue;
      const Seconds so_far = std::chrono::steady_clock::now() - share.began;
      const Seconds left =
          so_far * static_cast<double>(share.total - share.sent) / static_cast<double>(share.sent);
      if (!longest || left > *longest) longest = left;
    }
    if (!longest) return std::nullopt;
    return std::chrono::ceil<std::chrono::seconds>(*longest);
  }

  report::FilesSent sent(std::size_t host) const {
    const HostShare& share = push_.shares()[host];
    report::FilesSent sent{share.files, share.bytes, share.deleted.size(), std::nullopt,
                           share.replaced_links.size()};
    const auto worker = [this](std::size_t other) { return run_spec().plan.hosts[other].worker; };
    if (share.shared_with) sent.shared_with = worker(*share.shared_with);
    if (share.is_spread && share.source.parent) sent.from = worker(*share.source.parent);
    const bool was_silent = !share.lost_because.empty();
    if (share.is_spread || was_silent) sent.from_here = why_from_here(share, worker);
    return sent;
  }

  void print_total(output::Output& output, const run::RunPolicy& policy) const {
    if (run_spec().view.quiet) return;
    std::vector<HostTransfer> done;
    for (std::size_t host = 0; host < run_spec().plan.hosts.size(); ++host) {
      if (run::has_succeeded(policy.outcomes()[host]) && gets_files(host))
        done.push_back({run_spec().plan.hosts[host].worker, sent(host), push_.shares()[host].has_attributes});
    }
    const auto tense = only_looks() ? Tense::would : Tense::did;
    if (done.empty()) return;
    if (run_spec().plan.verbosity > 0) {
      for (const std::string& path : push_.tree().ignored())
        output.say("podrun: ignored: " + output::escape_controls(path));
    }
    const char* const here = push_.request().spread.source_host ? "by way of this machine" : "from here";
    output.say("podrun: " + describe_transfers(done, run_spec().files->ignored, tense,
                                               output::separator(charset()), here));
    if (const std::size_t special = push_.special_of_host(); special > 0)
      output.say(fmt::format("podrun: {} not copied (sockets, devices or FIFOs)", special));
  }

  /// With --dry-run: what each host would get, once for hosts that would get the same.
  void print_shares(output::Output& output, const run::RunPolicy& policy) const {
    std::vector<PlannedTransfer> planned;
    const std::vector<Entry>& entries = push_.tree().entries();
    for (std::size_t host = 0; host < run_spec().plan.hosts.size(); ++host) {
      if (!run::has_succeeded(policy.outcomes()[host]) || !gets_files(host)) continue;
      PlannedTransfer& each = planned.emplace_back();
      each.host = host;
      for (const std::size_t index : push_.shares()[host].chosen) {
        const Entry& entry = entries[index];
        each.sent.push_back(entry.kind == Kind::directory ? entry.path + '/' : entry.path);
      }
      for (const std::size_t index : push_.shares()[host].replaced_links)
        each.replaced_links.push_back(entries[index].path);
      for (const HostOnly& path : push_.shares()[host].deleted)
        each.deleted.push_back(path.is_directory ? path.path + '/' : path.path);
    }
    for (std::string& line : list_transfers(run_spec().plan.hosts, planned)) output.print(std::move(line));
  }

  Push& push_;
};

report::FilesToSend describe(const Push& push) {
  const PushRequest& request = push.request();
  report::FilesToSend files{.sources = request.sources_for_user(),
                            .target = request.target,
                            .is_counted = !request.spread.source_host};
  for (const Entry& entry : push.tree().entries()) {
    if (entry.kind != Kind::directory) ++files.count;
    files.bytes += entry.size;
  }
  files.ignored = push.tree().ignored().size();
  return files;
}

/// Whether the path, by its text alone, is the home directory, the root directory or one that only `..` parts
/// reach. The hosts check again, with links resolved.
bool is_root_or_home(std::string_view target) {
  if (target.starts_with('~')) target.remove_prefix(1);
  const std::vector<std::string_view> parts = split(target, '/');
  return std::all_of(parts.begin(), parts.end(),
                     [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

/// The request, with what a spread must know of the run.
PushRequest for_run(PushRequest request, const run::RunPlan& plan) {
  request.spread.limits = SpreadWatch::limits_for(plan.limits.connect_timeout);
  std::map<std::string, std::size_t> counts;
  for (const hosts::Host& host : plan.hosts) ++counts[hosts::address_of(host)];
  for (const hosts::Host& host : plan.hosts)
    request.spread.behind_ports.push_back(counts[hosts::address_of(host)] > 1);
  return request;
}

/// --delete is for what one directory has. The host that has the files knows later whether they are that.
void check_delete(const PushRequest& request, const Push& push) {
  if (request.remove == Delete::no) return;
  const std::vector<Entry>& entries = push.tree().entries();
  const bool is_directory =
      request.spread.source_host || (!entries.empty() && entries.front().kind == Kind::directory);
  if (request.tree.sources.size() != 1 || !is_directory)
    throw UsageError("push: --delete needs a single directory as its source");
  const bool is_whole = request.spread.source_host ? pull_word(request.tree.sources.front()).ends_with('/')
                                                   : entries.front().path.empty();
  if (!is_whole) return;
  if (is_root_or_home(request.target)) {
    throw UsageError(fmt::format(
        "push: --delete refuses \"{}\": it would delete everything else there (name a directory below it)",
        request.target));
  }
}

}  // namespace

std::chrono::seconds saved_by_spreading(const std::vector<HostShare>& shares,
                                        std::chrono::steady_clock::time_point now) {
  constexpr std::chrono::seconds kAtFirst{3};
  std::uint64_t sent = 0;
  std::uint64_t left = 0;
  std::uint64_t most_left = 0;
  auto began = now;
  for (const HostShare& share : shares) {
    if (share.total == 0) continue;
    began = std::min(began, share.began);
    sent += share.sent;
    left += share.total - share.sent;
    most_left = std::max(most_left, share.total - share.sent);
  }
  if (sent == 0 || now - began < kAtFirst) return {};
  const std::chrono::duration<double> so_far = now - began;
  return std::chrono::duration_cast<std::chrono::seconds>(so_far * static_cast<double>(left - most_left) /
                                                          static_cast<double>(sent));
}

PushRun::PushRun(PushRequest request, const session::SessionSpec& session, session::View view,
                 std::function<std::string(const std::string&)> retry_command)
    : run_(session::all_or_nothing(session, {request.only_look ? "set -- true" : switch_command(), {}})),
      push_(for_run(std::move(request), run_.plan), session.hosts.size()) {
  check_delete(push_.request(), push_);
  check_private();
  run_.plan.supervision.run_directory = supervisor::RunDirectory::yes;
  run_.plan.limits.prepares_all_at_once =
      push_.request().spread.source_host.has_value();  // all wait for that one
  run_.work = report::Work::files;
  run_.files = describe(push_);
  run_.view = std::move(view);
  run_.retry_command = std::move(retry_command);
  for (const std::string& path : push_.tree().special())
    run_.notes.push_back(fmt::format("push: {}: not a file, a directory or a link: not copied", path));
}

void PushRun::check_private() {
  private_ = private_parts(push_.tree());
  if (private_.empty()) return;
  if (push_.request().may_send_private) {  // --force has other uses, so that a script may not mean these
    run_.notes.push_back(
        fmt::format("push: {} (goes to every host)", join(std::exchange(private_, {}), "; ")));
    return;
  }
  const std::string what = fmt::format(
      "push: {} (name what is meant, leave the rest out with --exclude or .podrunignore, or give --force)",
      join(private_, "; "));
  if (!push_.request().only_look && !output::can_ask_on_terminal()) throw UsageError(what);
  if (push_.request().only_look) run_.notes.push_back(what);
}

std::optional<int> PushRun::confirm(session::Session& session) {
  if (private_.empty() || push_.request().only_look) return std::nullopt;
  const session::Session::Answer answer = session.ask_yes_or_no(
      output::escape_controls(fmt::format("{}. Send it to every host (yes/no)? ", join(private_, "; "))));
  if (answer.signal != 0) return 128 + answer.signal;
  if (!answer.is_yes) return 1;
  private_.clear();
  return std::nullopt;
}

int PushRun::run(session::Session& session) {
  running_.call("PushRun::run() is called once");
  if (const std::optional<int> status = confirm(session)) return *status;
  PushMode mode(run_, session, push_);
  return session.run(run_, mode).status;
}

}  // namespace podrun::transfer
