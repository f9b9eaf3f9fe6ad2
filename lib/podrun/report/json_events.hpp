// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "podrun/hosts/host.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/output/json_sink.hpp"
#include "podrun/run/outcome.hpp"
#include "podrun/supervisor/command.hpp"
#include "podrun/supervisor/protocol.hpp"

// The events of `--json` that are not lines of output, as docs/json.md has them: each one line, without its
// newline. Bytes that are not UTF-8 become U+FFFD. Pure.
namespace podrun::report {

/// An event with its version, name and time.
nlohmann::ordered_json new_event(std::string_view name, output::WallTime time);
/// As one line, without its newline.
std::string to_line(const nlohmann::ordered_json& event);

/// Adds `stage`, `cause` and `jump_host` to an object, see docs/json.md.
void add_failure(nlohmann::ordered_json& object, const link::Failure& failure);
/// Adds these for a host that has not answered, and `message`.
void add_failure(nlohmann::ordered_json& object, const run::HostOutcome& outcome);

/// The files of a push, or of a pull.
struct FilesToSend {
  std::vector<std::string> sources;  ///< words of the command line
  std::string target;
  std::size_t count = 0;    ///< files and links
  std::uint64_t bytes = 0;  ///< of the files
  std::size_t ignored = 0;  ///< paths that ignore rules left out
  bool is_counted = true;   ///< false: only the hosts know how much it is (podrun pull)
};

/// Files that one host got.
struct FilesSent {
  std::size_t files = 0;  ///< and links
  std::uint64_t bytes = 0;
  std::size_t deleted = 0;                 ///< a directory counts once
  std::optional<std::size_t> shared_with;  ///< the worker that wrote to the shared file system
  std::size_t links_replaced = 0;          ///< by directories
  std::optional<std::size_t> from = {};    ///< the worker that handed them on, with --spread
  std::string from_here = {};              ///< or why no worker did
};

/// Files from one host.
struct FilesReceived {
  std::string directory;  ///< of this machine
  std::size_t files = 0;  ///< and links
  std::uint64_t bytes = 0;
  std::size_t unchanged = 0;  ///< already here before
};

/// A run of a command that podrun may start again (--restarts).
struct TryNumber {
  std::string job_id;       ///< the same for all of them
  std::size_t restart = 0;  ///< how many there were before
};

/// The beginning of a run: of `files`, else of `command`.
struct RunStart {
  std::string run_id;
  supervisor::Command command;  ///< without words: that of `job`
  std::optional<FilesToSend> files = std::nullopt;
  std::optional<TryNumber> number = std::nullopt;
  std::string job = {};  ///< that is started, or read; empty: none
};

/// The first event. Leaves out the environment and the values of leading assignments, which may be secret.
std::string start_event(output::WallTime time, const std::vector<hosts::Host>& hosts, const RunStart& start);

/// The command runs on these hosts, and on no other it will start.
std::string started_event(output::WallTime time, const std::vector<std::size_t>& workers,
                          std::chrono::milliseconds since_start);

/// podrun cannot do what was asked, and exits with this status; no event follows.
std::string error_event(output::WallTime time, int status, std::string_view message);

/// A host has got its files; its exit event follows.
std::string sent_event(output::WallTime time, const hosts::Host& host, const FilesSent& sent,
                       std::chrono::milliseconds since_start);

/// Files of a host are here; its exit event follows.
std::string received_event(output::WallTime time, const hosts::Host& host, const FilesReceived& received,
                           std::chrono::milliseconds since_start);

/// The command ended, and the known `holders` still have its output open. `waits`: podrun waits
/// for them.
std::string output_open_event(output::WallTime time, const hosts::Host& host,
                              const supervisor::Holders& holders, bool waits,
                              std::chrono::milliseconds since_start);

/// Follows the host's last line. `since_start`: of the whole run.
std::string exit_event(output::WallTime time, const hosts::Host& host, const run::HostOutcome& outcome,
                       std::chrono::milliseconds since_start);

/// The end of a run.
struct RunEnd {
  std::vector<run::HostOutcome> outcomes;
  int status = 0;
  std::optional<std::size_t> culprit;  ///< a host of the run, by its place
  std::optional<int> interrupted_by;
  bool is_final = true;  ///< false: more tries may follow
};

/// The last event.
std::string summary_event(output::WallTime time, const std::vector<hosts::Host>& hosts, const RunEnd& end,
                          std::chrono::milliseconds since_start);

}  // namespace podrun::report
