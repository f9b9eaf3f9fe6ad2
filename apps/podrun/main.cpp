// SPDX-License-Identifier: Apache-2.0
// Prepares the process, runs the command that the command line names, and turns errors into an exit status.
#include <fcntl.h>
#include <nss.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "podrun/base/error.hpp"
#include "podrun/hosts/probe.hpp"
#include "podrun/output/terminal.hpp"
#include "podrun/report/json_events.hpp"

#include "cli/command_line.hpp"
#include "cli/kept_run.hpp"
#include "commands/commands.hpp"

namespace podrun {
namespace {

constexpr int kUsageStatus = 2;
constexpr int kInternalStatus = 70;  // EX_SOFTWARE, sysexits(3)

/// Descriptors 0 to 2 are always something, so that none of ours becomes a child's standard stream by
/// accident. Closed standard output gets one that cannot be written, so that lost output is an error.
void open_standard_descriptors() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) < 0)
      ::open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int dispatch(const std::vector<std::string>& arguments, cli::CommandLine& line,
             const std::shared_ptr<output::Terminal>& terminal) {
  const std::unique_ptr<hosts::Probe> probe = hosts::make_system_probe();
  const std::optional<cli::KeptRun> kept = cli::read_kept_run(arguments, *probe);
  if (const auto text =
          kept ? line.parse(kept->words, *probe, kept->directory) : line.parse(arguments, *probe))
    return output::print_answer(*text, *terminal);
  return line.run(*probe, terminal);
}

int refuse(const UsageError& error, const cli::CommandLine& line, output::Terminal& terminal) {
  if (line.asks_for_json()) {
    const std::string event =
        report::error_event(std::chrono::system_clock::now(), kUsageStatus, error.what());
    output::print_answer(event + '\n', terminal);
  }
  output::print_notes({error.what()}, terminal);
  return kUsageStatus;
}

int guarded_main(const std::vector<std::string>& arguments) {
  const auto terminal = std::make_shared<output::Terminal>(STDOUT_FILENO, STDERR_FILENO);
  try {
    cli::CommandLine line(commands::command_table());
    try {
      return dispatch(arguments, line, terminal);
    } catch (const UsageError& error) {
      return refuse(error, line, *terminal);
    }
  } catch (const std::exception& error) {
    output::print_notes({fmt::format("internal error: {}", error.what())}, *terminal);
    return kInternalStatus;
  }
}

}  // namespace
}  // namespace podrun

int main(int argc, char** argv) {
#ifdef PODRUN_STATIC
  // The other services of nsswitch.conf are shared libraries of the glibc there, which this one cannot load.
  ::__nss_configure_lookup("passwd", "files");
  ::__nss_configure_lookup("group", "files");
  ::__nss_configure_lookup("hosts", "files dns");
#endif
  podrun::open_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a closed reader is an error of write
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file that may not grow
  return podrun::guarded_main({argv + 1, argv + argc});
}
