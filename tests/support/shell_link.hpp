// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "podrun/link/link.hpp"
#include "podrun/local/process.hpp"
#include "podrun/supervisor/supervised.hpp"

#include "support/run_shell.hpp"
#include "support/temp_directory.hpp"

namespace podrun::test {

/// A link whose /bin/sh is this shell, here on this machine.
class ShellLink : public link::Link {
 public:
  ShellLink(asio::any_io_executor executor, std::vector<std::string> shell, local::ProcessOptions child)
      : executor_(std::move(executor)), shell_(std::move(shell)), child_(std::move(child)) {}

  /// sh text that runs before a program, as an rc file may.
  std::string before;
  /// As over `--via`.
  bool has_statuses_of_its_own = false;

  asio::awaitable<void> open() override { co_return; }
  void stop(link::Failure) override {}
  bool mixes_statuses() const override { return has_statuses_of_its_own; }
  asio::awaitable<std::shared_ptr<link::Stream>> exec(link::Program program) override {
    local::ProcessOptions options = child_;
    options.arguments = shell_;
    program.script = Chunk(before + std::string(program.script.bytes()));
    const auto stream = local::spawn_process(executor_, std::move(options));
    co_await link::send_program(*stream, program);
    co_return stream;
  }

 private:
  asio::any_io_executor executor_;
  std::vector<std::string> shell_;
  local::ProcessOptions child_;
};

/// A host with nothing in its PATH but sh and what the script says it needs (so no setsid, pkill, ps or
/// sudo), in the shell's own make; with the home and TMPDIR of a run, and the processes that carry its mark.
class TestHost {
 public:
  explicit TestHost(Shell shell) : shell_(std::move(shell)) {
    supervision_.mark = supervisor::random_id() + ".0.";
    supervision_.grace = std::chrono::seconds(1);
    supervision_.orphan_timeout = std::chrono::seconds(60);
    provide({"sh", "grep", "sleep", "ls", "mkdir", "mkfifo", "rm", "tee"});
  }

  /// Puts these programs into its PATH.
  void provide(const std::vector<std::string>& tools) {
    for (const std::string& tool : tools) {
      if (!tools_.has(tool))
        std::filesystem::create_symlink("/usr/bin/" + (shell_.name == "busybox" ? shell_.name : tool),
                                        tools_.path(tool));
    }
  }

  const Shell& shell() const { return shell_; }
  const TempDirectory& directory() const { return directory_; }
  supervisor::Supervision& supervision() { return supervision_; }

  std::unique_ptr<ShellLink> link(const asio::any_io_executor& executor,
                                  std::vector<std::string> start_with = {}) const {
    start_with.insert(start_with.end(), shell_.words.begin(), shell_.words.end());
    return std::make_unique<ShellLink>(
        executor, std::move(start_with),
        local::ProcessOptions{.environment = {"PATH=" + tools_.path(), "SHELL=/bin/sh", "LANG=C.UTF-8",
                                              "HOME=" + directory_.path(), "TMPDIR=" + directory_.path(),
                                              "OF_TEST=" + supervision_.mark}});
  }

  /// The words of each process that the run has left, the supervisor's own included.
  std::vector<std::string> processes() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (read(entry.path() / "environ").find(supervision_.mark) == std::string::npos) continue;
      found.push_back(name + ' ' + read(entry.path() / "cmdline").substr(0, 200));
    }
    return found;
  }

  /// The names of the run directories that are left.
  std::vector<std::string> run_directories() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path().filename().string().starts_with("podrun.")) found.push_back(entry.path());
    }
    return found;
  }

 private:
  /// Nothing when the process has gone, be it between the opening and the reading.
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  Shell shell_;
  TempDirectory tools_;
  TempDirectory directory_;
  supervisor::Supervision supervision_;
};

inline asio::awaitable<void> drop(link::Received) { co_return; }

}  // namespace podrun::test
