// SPDX-License-Identifier: Apache-2.0
// The second run of a start. When podrun ends between the two, nobody commits the job, so that no part of a
// pod keeps a job that the others do not have.
#include "podrun/jobs/job_commit.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/jobs/job_words.hpp"
#include "podrun/output/label.hpp"
#include "podrun/report/summary.hpp"
#include "podrun/session/ask_hosts.hpp"

namespace podrun::jobs {
namespace {

class CommitMode final : public session::Mode {
 public:
  CommitMode(const session::RunSpec& run, const JobStart& job, const session::Session& session,
             Committed& end)
      : run_(run),
        name_(job.name),
        is_kept_here_(job.grace_if_kept),
        charset_(session.charset()),
        called_(session.spec().called),
        end_(end) {}

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& /*terminal*/) override {
    replies_ = std::make_shared<session::Replies>(run_.plan.hosts.size());
    return {replies_};
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int /*status*/) override {
    std::vector<Job> jobs;
    std::vector<std::size_t> missing;
    for (std::size_t host = 0; host < run_.plan.hosts.size(); ++host) {
      JobList list = parse_job_list(replies_->of(host), run_.plan.run_id);
      if (list.is_complete && list.jobs.size() == 1)
        jobs.push_back(std::move(list.jobs.front()));
      else
        missing.push_back(host);
    }
    end_.is_everywhere = missing.empty();
    if (!missing.empty()) return say_missing(output, policy, missing);
    if (run_.view.json) return;
    for (const Job& job : jobs) end_.status = std::max(end_.status, job.status);
    if (is_kept_here_) return;
    for (std::string& line : describe_start(name_, run_.plan.hosts, jobs, called_))
      output.say(std::move(line));
  }

 private:
  void say_missing(output::Output& output, const run::RunPolicy& policy,
                   const std::vector<std::size_t>& missing) const {
    for (std::string& line :
         report::summarize(run_.plan.hosts, policy.outcomes(), std::nullopt, policy.interrupted_by(),
                           output::separator(charset_), report::Work::answers))
      output.say(std::move(line));
    output.say(fmt::format("podrun: {} not known to have started {}",
                           output::fold_hosts(run_.plan.hosts, missing), name_));
  }

  const session::RunSpec& run_;
  const std::string& name_;
  const bool is_kept_here_;
  const output::Charset charset_;
  const std::string called_;
  Committed& end_;
  std::shared_ptr<session::Replies> replies_;
};

}  // namespace

Committed commit_job(session::Session& session, const session::SessionSpec& spec,
                     const session::RunSpec& start, const JobStart& job) {
  session::RunSpec run =
      jobs_run(spec, {.action = "commit", .job_names = job.name, .grace = "0", .run_id = start.plan.run_id});
  run.view = start.view;
  Committed end;
  CommitMode mode(run, job, session, end);
  const int status = session.run(run, mode).status;
  if (!end.is_everywhere) end.status = status;
  return end;
}

}  // namespace podrun::jobs
