// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/hosts/host.hpp"
#include "podrun/report/json_events.hpp"
#include "podrun/session/session.hpp"
#include "podrun/transfer/push.hpp"

namespace podrun::transfer {

enum class Tense { did, would };

struct HostTransfer {
  std::size_t worker;
  report::FilesSent sent;
  bool has_attributes = false;  ///< modes or times were set
};

/// `3 files (1.2 MB) to 16 hosts · 2 deleted · 12 paths ignored (--no-ignore sends them)`, `16 hosts are up
/// to date`. There must be a host.
std::string describe_transfers(const std::vector<HostTransfer>& hosts, std::size_t ignored, Tense tense,
                               std::string_view separator);

/// The changes that a host would get.
struct PlannedTransfer {
  std::size_t host = 0;           ///< an index into the hosts
  std::vector<std::string> sent;  ///< paths; a directory ends with "/"
  std::vector<std::string> deleted;
  std::vector<std::string> replaced_links = {};  ///< by directories
};

/// A heading and a line for each path, once for all hosts with equal changes.
std::vector<std::string> list_transfers(const std::vector<hosts::Host>& hosts,
                                        const std::vector<PlannedTransfer>& planned);

/// A copy of local files to every host of a session, all at once or not at all.
class PushRun {
 public:
  /// Reads the local files. Throws UsageError. `view` and `retry_command`: as in RunSpec.
  PushRun(PushRequest request, const session::SessionSpec& session, session::View view,
          std::function<std::string(const std::string&)> retry_command);

  /// Makes the copy, and says how that went. Call once. The exit status.
  int run(session::Session& session);

 private:
  session::RunSpec run_;
  Push push_;
};

}  // namespace podrun::transfer
