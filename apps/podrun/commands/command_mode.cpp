// SPDX-License-Identifier: Apache-2.0
#include "commands/command_mode.hpp"

#include <optional>
#include <string>
#include <utility>

#include "commands/final_report.hpp"
#include "commands/json_report.hpp"
#include "commands/sinks.hpp"

namespace podrun::commands {
namespace {

class CommandMode final : public Mode {
 public:
  CommandMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe,
              output::Charset charset)
      : plan_(plan), options_(options), probe_(probe), charset_(charset) {
    if (options.json) json_.emplace(plan);
  }

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override {
    Sinks sinks = podrun::commands::make_sinks(plan_.run.hosts, options_, probe_, terminal);
    last_lines_ = std::move(sinks.last_lines);
    return std::move(sinks.all);
  }

  void begin(output::Output& output) override {
    if (json_) json_->begin(output);
  }

  void host_started(output::Output& output, std::size_t /*host*/) override { output.start(); }

  void output_open(output::Output& output, std::size_t host, const remote::Holders& holders,
                   bool waits) override {
    if (json_) json_->output_open(output, host, holders, waits);
  }

  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) override {
    // A host that is alone may be lost when its command runs but it is not known to be ready.
    if (run::may_have_run(outcome)) output.start();
    if (json_) json_->host_ended(output, host, outcome);
  }

  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    for (std::string& line : podrun::commands::final_report(plan_, policy, options_, *last_lines_, charset_))
      output.say(std::move(line));
    if (json_) json_->end(output, policy, status);
  }

  bool reports_first_failures() const override { return true; }

  int status(const run::RunPolicy& policy) const override {
    return run::exit_status(policy.outcomes(), policy.interrupted_by());
  }

 private:
  const Plan& plan_;
  const cli::Options& options_;
  const hosts::Probe& probe_;
  const output::Charset charset_;
  std::optional<JsonReport> json_;
  std::shared_ptr<output::LastLines> last_lines_;
};

}  // namespace

std::unique_ptr<Mode> make_command_mode(const Plan& plan, const cli::Options& options,
                                        const hosts::Probe& probe, output::Charset charset) {
  return std::make_unique<CommandMode>(plan, options, probe, charset);
}

}  // namespace podrun::commands
