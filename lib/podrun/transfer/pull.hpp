// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/expect.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/session/session.hpp"
#include "podrun/supervisor/program_reader.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/list_paths.hpp"
#include "podrun/transfer/pull_unpack.hpp"

namespace podrun::transfer {

struct PullRequest {
  std::vector<std::string> words;  ///< paths and patterns on the hosts, from the home directory
  std::string destination;         ///< an existing local directory
  std::optional<std::uint64_t> max_size = std::nullopt;  ///< bytes, of each host
  bool only_look = false;                                ///< only finds what would be copied
  std::size_t max_files = PathBudget::kUsualPaths;       ///< and directories, of each host
  bool is_flat = false;                                  ///< no directory for each host
};

/// The files that one host has sent, or would send.
struct PulledHost {
  std::size_t files = 0;                 ///< and links
  std::uint64_t bytes = 0;               ///< of the files
  std::size_t unchanged = 0;             ///< files and links that were already here
  std::size_t special = 0;               ///< sockets, devices and FIFOs, which are not copied
  std::vector<std::string> chosen = {};  ///< with only_look: paths below the host's directory here
  std::uint64_t received = 0;            ///< bytes of archives so far
  std::uint64_t total = 0;               ///< bytes of files that were missing here
  bool is_listed = false;                ///< the total is known
  bool is_active = false;                ///< more is being received
};

/// Copies files from hosts into a directory for each host, or into one for all. A host lists the paths that
/// the words name, and sends the files that are not here with that size and time.
class Pull {
 public:
  /// Throws UsageError for a word that cannot be a path.
  Pull(PullRequest request, std::vector<hosts::Host> hosts);

  /// Copies from one host. Throws HostError; where only a part is missing there, after copying the rest.
  asio::awaitable<void> prepare(std::size_t host, supervisor::Supervised& supervised);

  const PullRequest& request() const { return request_; }
  const std::vector<PulledHost>& pulled() const { return pulled_; }
  /// `DEST/3-tpu-3`; flat, `DEST`
  std::string directory_of(std::size_t host) const;

 private:
  struct Copy;
  using Wanted = std::vector<const ListedPath*>;

  asio::awaitable<void> copy_all(Copy& copy);
  asio::awaitable<void> list(Copy& copy);
  asio::awaitable<void> compare(Copy& copy);
  asio::awaitable<void> receive(Copy& copy, std::string place);
  asio::awaitable<void> unpack_part(Copy& copy, supervisor::ProgramReader& reader, const Wanted& wanted);
  asio::awaitable<void> feed(Copy& copy, supervisor::ProgramReader& reader, const Wanted& wanted,
                             Unpacked& unpacked);
  /// The beginning of the names of a host's files here: `3-tpu-3-` in a flat directory of several hosts.
  std::string prefix_of(std::size_t host) const;
  void check_size(const Copy& copy) const;
  std::uint64_t most_bytes(const Copy& copy) const;

  const PullRequest request_;
  const std::vector<hosts::Host> hosts_;
  std::vector<std::string> words_;  ///< in the form of pull_list.sh
  std::vector<PulledHost> pulled_;
};

/// A copy of files from every host of a session that can be reached.
class PullRun {
 public:
  /// `view` and `retry_command`: as in RunSpec.
  PullRun(PullRequest request, const session::SessionSpec& session, session::View view,
          std::function<std::string(const std::string&)> retry_command);

  /// Makes the copy, and says how that went. The exit status.
  int run(session::Session& session);

 private:
  session::RunSpec run_;
  Pull pull_;
  Once running_;
};

}  // namespace podrun::transfer
