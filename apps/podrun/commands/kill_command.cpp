// SPDX-License-Identifier: Apache-2.0
// `podrun kill`: its options.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/kill/kill_run.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

/// The beginning of a run's id. A short one could mean any run.
std::string parse_run_id(const std::string& text) {
  constexpr std::size_t kLeast = 8;
  if (text.size() < kLeast || text.find_first_not_of("0123456789abcdef") != text.npos)
    throw UsageError(
        fmt::format("bad id \"{}\" (expected at least {} of its digits, 0-9 and a-f)", text, kLeast));
  return text;
}

class KillCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun kill"};
    rows.flag(cli::OptionSet::own, "-y,--yes", "Do not ask", cli::into(yes_));
    rows.flag(cli::OptionSet::own, "--all-users", "Stop processes of other users too, through sudo",
              cli::into(plan_.request.all_users));
    rows.value(cli::OptionSet::own, "--of-user USER", "Only processes of this user on the hosts",
               cli::not_empty(plan_.request.user, "a user of the hosts"));
    rows.list(cli::OptionSet::own, "--pid PID", "Only the process PID; may be repeated",
              [this](const std::string& text) { plan_.request.pids.push_back(cli::parse_count(text)); });
    rows.value(cli::OptionSet::own, "--match TEXT", "Only processes whose command line contains TEXT",
               cli::not_empty(plan_.request.match, "a part of a command"));
    rows.value(cli::OptionSet::own, "--older-than TIME", "Only processes that started at least TIME ago",
               cli::into(plan_.request.older_than, cli::parse_positive_duration));
    rows.list(cli::OptionSet::own, "--run ID", "Include processes of a running podrun, by run id",
              [this](const std::string& text) { plan_.request.runs.push_back(parse_run_id(text)); });
    rows.list(cli::OptionSet::own, "--job NAME", "Include processes of a running job",
              cli::into(plan_.request.jobs));
  }

  void check(cli::Options& options, const cli::OptionTable& table) override {
    if (options.json && !options.dry_run && !yes_)
      throw UsageError("kill: with --json no question is asked (add -y, or --dry-run)");
    if (table.is_on_command_line("grace")) plan_.time_to_close = options.limits.grace;
  }

  int run(const cli::Context& context) override {
    session::Session session(context.session_spec(), context.probe, session::Session::Connections::kept);
    const kill::KillView view{
        .json = context.options.json, .only_lists = context.options.dry_run, .asks = !yes_};
    return kill::run_kill(session, plan_, view);
  }

 private:
  kill::KillPlan plan_;
  bool yes_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> make_kill_command() { return std::make_unique<KillCommand>(); }

}  // namespace podrun::commands
