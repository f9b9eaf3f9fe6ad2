// SPDX-License-Identifier: Apache-2.0
// A run that shows the output of a job: that is the preparation of each host, which goes on where it was
// after a lost connection. The command of the run exits as the job did.
#include "podrun/jobs/show_log.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "podrun/output/label.hpp"
#include "podrun/session/command_mode.hpp"

namespace podrun::jobs {
namespace {

class LogMode final : public session::CommandMode, private session::HostPreparation {
 public:
  LogMode(const session::RunSpec& run, const session::Session& session, LogFollow& follow)
      : CommandMode(run, session), follow_(follow) {}

  void begin(output::Output& output) override {
    CommandMode::begin(output);
    output.start();
  }
  session::HostPreparation* preparation() override { return this; }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    say_of(output, &FollowedHost::has_gap, "some of the output is no longer there");
    say_of(output, &FollowedHost::is_open,
           "the job has ended, and processes that it left have its output open: not waiting for them");
    if (policy.interrupted_by()) {
      if (json()) json()->end(output, policy, status);
      return;
    }
    CommandMode::print_final_report(output, policy, status);
  }

 private:
  void begin_attempt(output::Output& output) override { output_ = &output; }
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised) override {
    return follow_.prepare(host, supervised, *output_);
  }
  link::Stage stage() const override { return link::Stage::job_log; }

  void say_of(output::Output& output, bool FollowedHost::*is_so, std::string_view what) const {
    std::vector<std::size_t> hosts;
    for (std::size_t host = 0; host < follow_.hosts().size(); ++host) {
      if (follow_.hosts()[host].*is_so) hosts.push_back(host);
    }
    if (!hosts.empty())
      output.say(fmt::format("podrun: {} {}", output::fold_hosts(run_spec().plan.hosts, hosts), what));
  }

  LogFollow& follow_;
  output::Output* output_ = nullptr;
};

}  // namespace

int show_log(session::Session& session, session::RunSpec run, const std::vector<std::size_t>& hosts,
             const LogRequest& request) {
  run = session::with_hosts(std::move(run), hosts);
  run.plan.command = exit_as_the_job();
  run.plan.limits.timeout.reset();
  run.plan.limits.prepares_all_at_once = true;
  run.plan.limits.resumes = true;
  run.reports_first_failures = true;
  LogFollow follow(request, run.plan.hosts);
  LogMode mode(run, session, follow);
  return session.run(run, mode).status;
}

}  // namespace podrun::jobs
