// SPDX-License-Identifier: Apache-2.0
// `podrun pull`: its options, and the copy that they ask for.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/base/file_system.hpp"
#include "podrun/transfer/pull.hpp"

#include "cli/option_rows.hpp"
#include "cli/option_values.hpp"
#include "cli/specs_from_options.hpp"
#include "commands/commands.hpp"

namespace podrun::commands {
namespace {

/// Makes DEST, so that a mistake is told before podrun connects.
void make_destination(const std::string& destination) {
  std::error_code error;
  std::filesystem::create_directories(destination, error);
  if (!error && !std::filesystem::is_directory(destination, error) && !error)
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    throw UsageError(fmt::format("pull: cannot make the directory \"{}\": {}", destination, error.message()));
  }
}

class PullCommand final : public cli::Command {
 public:
  void add_options(cli::OptionTable& table) override {
    const cli::Rows rows{table, "podrun pull"};
    rows.value(cli::OptionSet::own, "--max-size SIZE",
               "Copy nothing from a host that has more than SIZE to copy: 500M, 2GiB",
               cli::into(max_size_, cli::parse_size));
    rows.flag(cli::OptionSet::own, "--flat",
              "Make no directory for each host: DEST/3-tpu-3-NAME, or DEST/NAME if there is one host",
              [this](bool is_on) { is_flat_ = is_on; });
  }

  int run(const cli::Context& context) override {
    transfer::PullRequest request{.words = context.options.operands,
                                  .destination = {},
                                  .max_size = max_size_,
                                  .only_look = context.options.dry_run,
                                  .max_files = context.options.max_files,
                                  .is_flat = is_flat_};
    const std::string destination = request.words.back();
    request.destination = destination;
    request.words.pop_back();
    if (destination.empty()) throw UsageError("pull: an empty destination (expected a local directory)");
    check_current_directory(fmt::format("pull: {}", destination), destination);
    const session::SessionSpec spec = cli::session_spec(context.options, context.probe, context.terminal);
    const auto retry = [&](const std::string& workers) {
      return cli::repeat_command(context.options, workers);
    };
    transfer::PullRun pull(std::move(request), spec, cli::view(context.options), retry);
    if (!context.options.dry_run) make_destination(destination);
    session::Session session(spec, context.probe, session::Session::Connections::closed);
    return pull.run(session);
  }

 private:
  std::optional<std::uint64_t> max_size_;
  bool is_flat_ = false;
};

}  // namespace

std::unique_ptr<cli::Command> make_pull_command() { return std::make_unique<PullCommand>(); }

}  // namespace podrun::commands
