// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "podrun/hosts/probe.hpp"
#include "podrun/output/last_lines.hpp"
#include "podrun/output/status_line.hpp"

#include "cli/options.hpp"
#include "commands/json_report.hpp"
#include "commands/mode.hpp"
#include "commands/plan.hpp"

namespace podrun::commands {

/// The mode of a run of the user's own command: its output as the options want it, the final report, the
/// largest of the hosts' statuses. The arguments must outlive it.
class CommandMode : public Mode {
 public:
  CommandMode(const Plan& plan, const cli::Options& options, const hosts::Probe& probe,
              output::Charset charset);

  std::vector<std::shared_ptr<output::Sink>> make_sinks(output::Terminal& terminal) override;
  void begin(output::Output& output) override;
  void host_started(output::Output& output, std::size_t host) override;
  void output_open(output::Output& output, std::size_t host, const remote::Holders& holders,
                   bool waits) override;
  void host_ended(output::Output& output, std::size_t host, const run::HostOutcome& outcome) override;
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override;
  bool reports_first_failures() const override { return true; }
  int status(const run::RunPolicy& policy) const override;

 protected:
  const Plan& plan() const { return plan_; }
  const cli::Options& options() const { return options_; }
  output::Charset charset() const { return charset_; }
  /// None without --json.
  std::optional<JsonReport>& json() { return json_; }

 private:
  const Plan& plan_;
  const cli::Options& options_;
  const hosts::Probe& probe_;
  const output::Charset charset_;
  std::optional<JsonReport> json_;
  std::shared_ptr<output::LastLines> last_lines_;
};

}  // namespace podrun::commands
