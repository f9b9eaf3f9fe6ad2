// SPDX-License-Identifier: Apache-2.0
// Starts a job: the hosts reserve its name before they are ready, and the command of the run starts the job
// and ends. If that fails on a host, a second run takes the job back on the others.
#include "podrun/jobs/start_job.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/jobs/ask_jobs.hpp"
#include "podrun/output/label.hpp"
#include "podrun/session/command_mode.hpp"

namespace podrun::jobs {
namespace {

/// Time for a host to start the job. Taking it back has the grace period as well.
constexpr std::chrono::seconds kTimeToStart{60};

/// What the final report has said. A signal that comes later changes nothing.
struct StartEnd {
  bool runs_everywhere = false;
  std::vector<run::HostOutcome> outcomes = {};
};

class StartMode final : public session::CommandMode, private session::HostPreparation {
 public:
  StartMode(const session::RunSpec& run, const session::Session& session, const std::string& name,
            StartEnd& end)
      : CommandMode(run, session), name_(name), claims_(name, run.plan.hosts, run.plan.run_id), end_(end) {}

  session::HostPreparation* preparation() override { return this; }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    end_ = {.runs_everywhere = status == 0, .outcomes = policy.outcomes()};
    CommandMode::print_final_report(output, policy, status);
    if (status == 0 && !json()) {
      output.say(
          fmt::format("podrun: {0} runs on {1} (podrun logs -f {0} shows its output, podrun stop {0} "
                      "stops it)",
                      name_, count_hosts(run_spec().plan.hosts.size())));
    }
  }

 private:
  void begin_attempt(output::Output& /*output*/) override { claims_.begin_attempt(); }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    return claims_.reserve(host, supervised);
  }
  link::Stage stage() const override { return link::Stage::job_name; }

  const std::string& name_;
  Claims claims_;
  StartEnd& end_;
};

/// Stops and removes what this start has started on those hosts where it may have.
void take_back(session::Session& session, const session::SessionSpec& spec, const session::RunSpec& run,
               const std::string& name, const std::vector<run::HostOutcome>& outcomes) {
  std::vector<std::size_t> started;
  for (std::size_t host = 0; host < outcomes.size(); ++host) {
    if (run::may_have_run(outcomes[host])) started.push_back(host);
  }
  if (started.empty()) return;
  const std::chrono::seconds grace = spec.limits.grace;
  session::RunSpec back = session::whoever_answers(spec,
                                                   jobs_command({.action = "take-back",
                                                                 .job_name = name,
                                                                 .grace = std::to_string(grace.count()),
                                                                 .run_id = run.plan.run_id}),
                                                   grace + kTimeToStart);
  back.patience = session::kPatience;
  back = session::with_hosts(std::move(back), started);
  const std::vector<hosts::Host>& hosts = back.plan.hosts;
  const session::RunResult taken = session::ask_hosts(session, back).result;
  std::vector<std::size_t> left;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    if (!run::has_succeeded(taken.outcomes[host])) left.push_back(host);
  }
  if (left.empty()) {
    session.say({fmt::format("{} was not started; what had been started on {} is stopped", name,
                             count_hosts(hosts.size()))});
  } else {
    session.say({fmt::format("{0} may still run on {1} (podrun stop {0} stops it)", name,
                             output::name_hosts(hosts, left))});
  }
}

}  // namespace

int start_job(session::Session& session, const session::SessionSpec& spec, session::RunSpec run,
              const JobStart& job) {
  run.plan.command = start_command(job, run.command);
  run.work = report::Work::job;
  run.retry_command = nullptr;
  run::Limits& limits = run.plan.limits;
  limits.on_failure = run::OnFailure::stop_others;
  limits.prepares_all_at_once = true;
  limits.timeout = kTimeToStart;
  StartEnd end;
  StartMode mode(run, session, job.name, end);
  const int status = session.run(run, mode).status;
  if (end.runs_everywhere) return 0;
  take_back(session, spec, run, job.name, end.outcomes);
  return status;
}

}  // namespace podrun::jobs
