// SPDX-License-Identifier: Apache-2.0
// `podrun push`: its options, and the copy that they ask for.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"
#include "podrun/hosts/discovery.hpp"
#include "podrun/transfer/push.hpp"

#include "cli/option_rows.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

/// `host:path`, as scp and rsync write it.
struct PathOnHost {
  std::string host;
  std::string path;  ///< empty: the home directory
};

/// None for any other word, `./a:b` too.
std::optional<PathOnHost> path_on_host(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos || colon == 0 || word.find('/') < colon) return std::nullopt;
  return PathOnHost{word.substr(0, colon), word.substr(colon + 1)};
}

/// A file here of that name comes first.
std::optional<PathOnHost> source_on_host(const std::string& word) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(word, error))) return std::nullopt;
  return path_on_host(word);
}

void refuse_host(const std::string& target) {
  const std::optional<PathOnHost> found = path_on_host(target);
  if (!found) return;
  throw UsageError(
      fmt::format("push: {:?}: a destination is a path on all hosts (write {}; for one host: --workers N, or "
                  "-H {})",
                  target, shell_quote(found->path.empty() ? "." : found->path), shell_quote(found->host)));
}

/// The host that has all of these sources, which become paths there; none if they are here.
std::optional<std::string> take_source_host(std::vector<std::string>& sources) {
  const std::optional<PathOnHost> first = source_on_host(sources.front());
  std::vector<std::string> paths;
  for (const std::string& source : sources) {
    const std::optional<PathOnHost> found = source_on_host(source);
    const bool is_with_first = found ? first && found->host == first->host : !first;
    if (!is_with_first) {
      throw UsageError(fmt::format("push: {} and {}: not on the same machine (push them one by one)",
                                   shell_quote(sources.front()), shell_quote(source)));
    }
    if (found) paths.push_back(found->path.empty() ? "./" : found->path);
  }
  if (!first) return std::nullopt;
  sources = std::move(paths);
  return first->host;
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
    request_.may_delete_all = options.force;
    request_.may_send_private = options.force;
    if (options.operands.size() < 2) return;
    sources_ = {options.operands.begin(), options.operands.end() - 1};
    options.source_host = take_source_host(sources_);
    if (options.source_host) refuse_local_options();
  }

  int run(const cli::Context& context) override {
    transfer::PushRequest request = request_;
    request.tree.sources = sources_;
    request.tree.home = context.probe.env("HOME").value_or("");
    request.words = {context.options.operands.begin(), context.options.operands.end() - 1};
    request.target = context.options.operands.back();
    refuse_host(request.target);
    request.only_look = context.options.dry_run;
    request.max_files = context.options.max_files;
    request.spread.spreading = cli::spreading(context.options);
    const session::SessionSpec spec = cli::session_spec(context.options, context.probe, context.terminal);
    if (context.options.source_host) {
      request.spread.source_host = hosts::find_host(spec.hosts, *context.options.source_host, "push");
      if (spec.hosts.size() == 1)
        throw UsageError("push: there is no host besides the one that has the files (choose others, too)");
    }
    const auto retry = [&](const std::string& workers) {
      return cli::repeat_command(context.options, workers);
    };
    transfer::PushRun push(std::move(request), spec, cli::view(context.options), retry);
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    return push.run(session);
  }

 private:
  /// podrun has neither the files of a host nor the ignore rules of their directory.
  void refuse_local_options() const {
    const auto refuse = [](const char* option) {
      throw UsageError(fmt::format("{}: only for files that are here (leave it out)", option));
    };
    if (request_.compare == transfer::Compare::contents) refuse("--checksum");
    if (!request_.tree.excludes.empty()) refuse("--exclude");
    if (!request_.tree.ignore) refuse("--no-ignore");
  }

  transfer::PushRequest request_;
  std::vector<std::string> sources_;
};

}  // namespace

std::unique_ptr<cli::Command> make_push_command() { return std::make_unique<PushCommand>(); }

}  // namespace podrun::commands
