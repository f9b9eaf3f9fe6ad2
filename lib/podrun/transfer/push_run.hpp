// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/session/session.hpp"
#include "podrun/transfer/push.hpp"

namespace podrun::transfer {

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
