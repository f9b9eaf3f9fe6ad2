// SPDX-License-Identifier: Apache-2.0
// `podrun logs`: one run asks which hosts have the job, a second one shows its output.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/error.hpp"
#include "podrun/base/regex.hpp"
#include "podrun/jobs/job_start.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/jobs/show_log.hpp"
#include "podrun/output/label.hpp"

#include "cli/job_keepers.hpp"
#include "cli/kept_run.hpp"
#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

constexpr int kFailedStatus = 1;
constexpr std::string_view kSshConfig = "an ssh_config: --ssh-config FILE";  // -F elsewhere
constexpr std::uint64_t kNewest = 0;                                         ///< start of each host

/// Whether this is the status of a run that a signal has ended. (A job that is not followed has none.)
bool is_interrupted(int status) {
  constexpr int kOfSignals = 128;
  constexpr int kUnreachable = 255;
  return status > kOfSignals && status < kUnreachable;
}

class LogsCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun logs"};
    rows.flag(cli::OptionSet::own, "--follow", "Follow the output until the job ends, and exit as it did",
              cli::into(request_.follow));
    rows.value(cli::OptionSet::own, "-n,--tail N", "Only the last N lines of each stream of each host",
               cli::into(request_.tail, cli::count_from(0)));
    rows.value(cli::OptionSet::own, "--try N|all",
               "Output of start N, or of all starts that are kept (the newest)",
               [this](const std::string& text) { choose_start(text); });
    rows.value(cli::OptionSet::own, "--since TIME",
               "Only output of the last TIME (10m), or since a time of day (14:05)",
               [this](const std::string& text) {
                 request_.since =
                     std::chrono::steady_clock::now() -
                     cli::parse_ago(text,
                                    std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
               });
    rows.value(cli::OptionSet::own, "--grep REGEX",
               "Only lines that match; the hosts search (as grep -E does)", [this](const std::string& text) {
                 const Regex is_one(text);
                 request_.grep = text;
               });
  }

  int run(const cli::Context& context) override {
    const std::vector<std::string>& names = context.options.operands;
    for (const std::string& name : names) {
      if (request_.follow && name.find('/') != name.npos)
        throw UsageError(
            fmt::format("logs: {:?} is no name of a job (-F follows, as -f does; {})", name, kSshConfig));
      jobs::check_job_name(name);
    }
    request_.timestamps = context.options.timestamps;
    check_combination(context.options);
    if (context.options.dry_run)
      return context.answer(
          cli::describe_surroundings(jobs::list_run(context.session_for_reader(), names.front())));
    const cli::JobsByKeeper by = cli::find_keepers(context, names);
    if (by.interrupted) return *by.interrupted;
    if (!by.here.empty()) request_.workers = context.options.hosts.workers;
    if (request_.workers && (!request_.grep.empty() || request_.timestamps))
      throw UsageError(
          fmt::format("logs: {} excludes --workers where this machine keeps the job ({}; its lines begin "
                      "with the worker: --grep '^3: .*loss')",
                      request_.timestamps ? "--timestamps" : "--grep", by.here.front()));
    choose_tail(by, context);
    int status =
        by.here.empty() ? 0 : show_all(by.here, keeper_session(context, by.on_hosts.empty()), context);
    if (by.on_hosts.empty() || is_interrupted(status)) return status;
    return std::max(status, show_all(by.on_hosts, context.session_for_reader(), context));
  }

 private:
  static session::SessionSpec keeper_session(const cli::Context& context, bool is_last) {
    session::SessionSpec here = cli::keeper_session(context.options, context.probe, context.terminal);
    here.needs_reader = !context.options.quiet || context.options.json;
    here.is_last = is_last;
    return here;
  }

  int show_all(const std::vector<std::string>& names, const session::SessionSpec& spec,
               const cli::Context& context) {
    session::Session session(spec, context.probe, session::Session::Connections::kept);
    int status = 0;
    for (const std::string& name : names) {
      if (context.options.operands.size() > 1) session.say({name + ':'});
      status = std::max(status, show(name, spec, session, context));
      if (is_interrupted(status)) break;
    }
    return status;
  }

  void check_combination(const cli::Options& options) const {
    if (request_.follow && options.operands.size() > 1)
      throw UsageError(fmt::format("logs: --follow follows one job (give one name; {})", kSshConfig));
    if (request_.follow && all_starts_)
      throw UsageError("logs: --follow follows one start (leave out --try all)");
    if (request_.timestamps && !request_.grep.empty())
      throw UsageError("logs: --grep finds lines without their times (leave out --timestamps)");
    if (request_.timestamps && options.json)
      throw UsageError("logs: --json has the lines unchanged (leave out --timestamps)");
  }

  /// On a terminal, the log of a kept job begins with its last lines, unless the user says where.
  void choose_tail(const cli::JobsByKeeper& by, const cli::Context& context) {
    constexpr std::uint64_t kScreen = 30;
    const cli::Options& options = context.options;
    const bool is_chosen = request_.tail || request_.since || !request_.grep.empty();
    const bool wants_all = options.gather || options.json || !options.outdir.empty();
    if (!by.here.empty() && request_.follow && !is_chosen && !wants_all &&
        context.terminal->is_terminal(StreamId::out))
      request_.tail = kScreen;
  }

  void choose_start(const std::string& text) {
    all_starts_ = text == "all";
    if (!all_starts_) start_ = cli::parse_count(text);
  }

  int show(const std::string& name, const session::SessionSpec& spec, session::Session& session,
           const cli::Context& context) {
    request_.name = name;
    const jobs::JobAnswers jobs = jobs::find_job(session, jobs::list_run(spec, name), request_);
    int status = jobs.answers.result.status;
    if (jobs.answers.result.interrupted_by) return status;
    std::vector<std::uint64_t> starts = {start_};
    if (all_starts_) starts = kept_starts(jobs);
    for (const std::uint64_t start : starts) {
      if (all_starts_ && start != kNewest) session.say({fmt::format("{}, start {}", name, start)});
      session::RunSpec run = jobs::list_run(spec, name);
      run.view = cli::view(context.options);
      run.view.timestamps = false;  // the lines have the times of their hosts
      status = std::max(status, show_start(start, std::move(run), jobs, session));
      if (is_interrupted(status)) break;
    }
    return status;
  }

  int show_start(std::uint64_t start, session::RunSpec run, const jobs::JobAnswers& jobs,
                 session::Session& session) {
    std::vector<std::size_t> with_start;
    request_.number = start;
    const int missing = report_missing(run.plan.hosts, jobs, with_start, session);
    if (with_start.empty()) return missing;
    return std::max(missing, jobs::show_log(session, std::move(run), with_start, request_).status);
  }

  /// Tells the hosts with this start of the job from those without. The status: 1 if hosts that have answered
  /// do not have it. (Where all starts are shown, a host need not have each of them.)
  int report_missing(const std::vector<hosts::Host>& hosts, const jobs::JobAnswers& jobs,
                     std::vector<std::size_t>& with_start, session::Session& session) const {
    const bool is_newest = request_.number == kNewest;
    std::vector<std::size_t> without;
    bool has_job = false;
    for (const jobs::ListedJobs& each : jobs.listed) {
      const jobs::Job* job = each.list.shown();
      const bool is_there = job != nullptr;
      const bool has_start = is_there && (is_newest || job->kept.contains(request_.number));
      has_job = has_job || is_there;
      if (has_start || !all_starts_ || is_newest) (has_start ? with_start : without).push_back(each.host);
    }
    if (without.empty()) return 0;
    if (is_newest || !has_job) {
      jobs::say_not_there(session, hosts, jobs, without, request_.name);
    } else {
      const std::string where =
          without.size() == jobs.listed.size() ? "these hosts" : output::fold_hosts(hosts, without);
      session.say({fmt::format("there is no start {} of {} on {} (--try {})", request_.number, request_.name,
                               where, fmt::join(kept_starts(jobs), ", --try "))});
    }
    return kFailedStatus;
  }

  /// The numbers of the starts that any host has, in order; the newest if none has one.
  static std::vector<std::uint64_t> kept_starts(const jobs::JobAnswers& jobs) {
    std::set<std::uint64_t> kept;
    for (const jobs::ListedJobs& each : jobs.listed) {
      if (const jobs::Job* job = each.list.shown()) kept.insert(job->kept.begin(), job->kept.end());
    }
    if (kept.empty()) kept.insert(kNewest);
    return {kept.begin(), kept.end()};
  }

  std::uint64_t start_ = kNewest;
  bool all_starts_ = false;
  jobs::LogRequest request_;
};

}  // namespace

std::unique_ptr<cli::Command> make_logs_command() { return std::make_unique<LogsCommand>(); }

}  // namespace podrun::commands
