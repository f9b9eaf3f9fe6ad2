// SPDX-License-Identifier: Apache-2.0
// `podrun check`: its options, and the run that they ask for.
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "podrun/base/error.hpp"
#include "podrun/check/check_run.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

class CheckCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun check"};
    std::string& directory = request_.directory;
    rows.value(cli::OptionSet::own, "--wait TIME", "Wait until every host is up, for at most TIME",
               cli::into(wait_, cli::parse_positive_duration));
    rows.value(cli::OptionSet::own, "--dir DIR", "Compare the git commit in this directory too",
               [&directory](const std::string& text) {
                 if (!directory.empty()) throw UsageError("given twice (one directory only)");
                 cli::not_empty(directory, "a directory of the hosts")(text);
               });
    rows.value(cli::OptionSet::own, "--python PATH", "Compare the packages of this python (python3)",
               cli::not_empty(request_.python, "a python of the hosts"));
  }

  int run(const cli::Context& context) override {
    const cli::Options& options = context.options;
    const session::SessionSpec spec = context.session_spec();
    session::RunSpec run = check::check_run(spec, request_);
    run.view.json = options.json;
    run.plan.limits.wait = wait_;
    // A limit of config.yaml is for commands of users.
    if (context.table.is_on_command_line("timeout")) run.plan.limits.timeout = options.limits.timeout;
    if (options.dry_run) return context.describe(spec, cli::describe_run(run));
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    return check::run_check(session, run, request_);
  }

 private:
  check::CheckRequest request_;
  std::optional<std::chrono::seconds> wait_;
};

}  // namespace

std::unique_ptr<cli::Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace podrun::commands
