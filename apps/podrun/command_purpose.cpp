// SPDX-License-Identifier: Apache-2.0
#include "command_purpose.hpp"

#include <optional>
#include <string>
#include <utility>

#include "conclusion.hpp"
#include "json_report.hpp"
#include "sinks.hpp"

namespace podrun {
namespace {

class CommandPurpose final : public Purpose {
 public:
  CommandPurpose(const Plan& plan, const Options& options, const Probe& probe, Charset charset)
      : plan_(plan), options_(options), probe_(probe), charset_(charset) {
    if (options.json) json_.emplace(plan);
  }

  std::vector<std::shared_ptr<Sink>> make_sinks(Terminal& terminal) override {
    Sinks sinks = podrun::make_sinks(plan_.run.hosts, options_, probe_, terminal);
    last_lines_ = std::move(sinks.last_lines);
    return std::move(sinks.all);
  }

  void begin(Output& output) override {
    if (json_) json_->begin(output);
  }

  void host_started(Output& output, std::size_t /*host*/) override { output.start(); }

  void host_ended(Output& output, std::size_t host, const HostOutcome& outcome) override {
    // A host that is alone may be lost when its command runs but it is not known to be ready.
    if (may_have_run(outcome)) output.start();
    if (json_) json_->host_ended(output, host, outcome);
  }

  void conclude(Output& output, const RunPolicy& policy, int status) override {
    for (std::string& line : podrun::conclude(plan_, policy, options_, *last_lines_, charset_))
      output.say(std::move(line));
    if (json_) json_->end(output, policy, status);
  }

  int status(const RunPolicy& policy) const override {
    return exit_status(policy.outcomes(), policy.interrupted_by());
  }

 private:
  const Plan& plan_;
  const Options& options_;
  const Probe& probe_;
  const Charset charset_;
  std::optional<JsonReport> json_;
  std::shared_ptr<LastLines> last_lines_;
};

}  // namespace

std::unique_ptr<Purpose> make_command_purpose(const Plan& plan, const Options& options, const Probe& probe,
                                              Charset charset) {
  return std::make_unique<CommandPurpose>(plan, options, probe, charset);
}

}  // namespace podrun
