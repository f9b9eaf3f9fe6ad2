// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/session/session.hpp"
#include "podrun/transfer/pull.hpp"

namespace podrun::transfer {

/// A copy of files from every host of a session that can be reached.
class PullRun {
 public:
  /// `view` and `retry_command`: as in RunSpec.
  PullRun(PullRequest request, const session::SessionSpec& session, session::View view,
          std::function<std::string(const std::string&)> retry_command);

  /// Makes the copy, and says how that went. Call once. The exit status.
  int run(session::Session& session);

 private:
  session::RunSpec run_;
  Pull pull_;
};

}  // namespace podrun::transfer
