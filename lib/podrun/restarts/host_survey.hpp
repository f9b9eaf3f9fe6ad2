// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "podrun/base/expect.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/restarts/restart_policy.hpp"
#include "podrun/restarts/restart_report.hpp"
#include "podrun/restarts/settled_host.hpp"
#include "podrun/session/session.hpp"

namespace podrun::restarts {

/// Looks at the hosts between two tries: ends what is left of the last one there, and finds out which hosts
/// were rebooted or replaced, and for which the next one has to wait.
class HostSurvey {
 public:
  /// `find_hosts`: see RestartSpec.
  HostSurvey(session::Session& session, std::function<std::vector<hosts::Host>()> find_hosts);

  /// Asks all hosts before the first try. Returns the signal that ended it, if any.
  std::optional<int> begin();
  /// Asks after the try with this run id: all hosts, or those that are awaited, whose list is read
  /// again; without a run id it stops no process. Adds what the user should know to `notes`. Returns the
  /// signal that ended it, if any.
  std::optional<int> make(const std::string& run_id, std::vector<std::string>& notes);
  /// The next try starts on the hosts as they were seen last.
  void remember() { known_ = seen_; }

  const std::vector<Awaited>& awaited() const { return awaited_; }
  /// Each host as it was seen last, compared with the start of the last try.
  std::vector<HostAfterTry> states() const;

 private:
  std::optional<int> ask(const std::vector<std::size_t>& which, const std::string& run_id);
  void find_hosts_again(std::vector<std::string>& notes);
  void move_missing(const std::vector<hosts::Host>& found, std::vector<std::string>& notes);
  std::vector<std::size_t> all_hosts() const;
  const std::vector<hosts::Host>& hosts() const { return session_.spec().hosts; }

  session::Session& session_;
  const Borrowed session_lives_;
  const std::function<std::vector<hosts::Host>()> find_hosts_;
  std::vector<SettledHost> at_first_ = {};  ///< before the first try
  std::vector<SettledHost> known_ = {};     ///< when the last try started
  std::vector<SettledHost> seen_ = {};
  std::vector<Awaited> awaited_ = {};
  std::map<std::size_t, run::TimePoint> missing_since_ = {};  ///< hosts that do not answer now
  std::string list_problem_ = {};
};

}  // namespace podrun::restarts
