// SPDX-License-Identifier: Apache-2.0
// `podrun push`: its options, and the copy that they ask for.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/transfer/push.hpp"

#include "cli/option_rows.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

/// `host:dir` is scp's word for one host. `./a:b` is a path.
void refuse_host(const std::string& target) {
  const std::size_t colon = target.find(':');
  if (colon == std::string::npos || colon == 0 || target.find('/') < colon) return;
  const std::string path = target.substr(colon + 1);
  throw UsageError(
      fmt::format("push: {:?}: a destination is a path on all hosts (write {}; for one host: --workers N, or "
                  "-H {})",
                  target, shell_quote(path.empty() ? "." : path), shell_quote(target.substr(0, colon))));
}

class PushCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun push"};
    rows.flag(cli::OptionSet::own, "--checksum", "Compare files by contents, not by size and time",
              cli::either(request_.compare, transfer::Compare::contents, transfer::Compare::size_and_time));
    rows.flag(cli::OptionSet::own, "--delete",
              "Delete files that exist only on the hosts, except ignored ones",
              cli::either(request_.remove, transfer::Delete::yes, transfer::Delete::no));
    rows.flag(cli::OptionSet::own, "--keep-dir-links",
              "Write through links to directories on the hosts, as rsync -K does",
              cli::into(request_.keep_dir_links));
    rows.list(cli::OptionSet::own, "--exclude PATTERN",
              "Also ignore files that match PATTERN, as in gitignore(5)", cli::into(request_.tree.excludes));
    rows.flag(cli::OptionSet::own, "--no-ignore",
              "Send ignored files too (.gitignore, .podrunignore) and .git",
              cli::either(request_.tree.ignore, false, true));
  }

  void check(cli::Options& options, const cli::OptionTable& /*table*/) override {
    if (options.force && request_.remove == transfer::Delete::no)
      throw UsageError("--force: it belongs to --delete (leave it out)");
    request_.may_delete_all = options.force;
  }

  int run(const cli::Context& context) override {
    transfer::PushRequest request = request_;
    request.tree.sources = context.options.operands;
    request.target = request.tree.sources.back();
    request.tree.sources.pop_back();
    refuse_host(request.target);
    request.only_look = context.options.dry_run;
    request.max_files = context.options.max_files;
    request.spreading = cli::spreading(context.options);
    const session::SessionSpec spec = cli::session_spec(context.options, context.probe, context.terminal);
    const auto retry = [&](const std::string& workers) {
      return cli::repeat_command(context.options, workers);
    };
    transfer::PushRun push(std::move(request), spec, cli::view(context.options), retry);
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    return push.run(session);
  }

 private:
  transfer::PushRequest request_;
};

}  // namespace

std::unique_ptr<cli::Command> make_push_command() { return std::make_unique<PushCommand>(); }

}  // namespace podrun::commands
