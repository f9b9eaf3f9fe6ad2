// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/base/regex.hpp"
#include "podrun/hosts/host.hpp"
#include "podrun/restarts/restart_policy.hpp"
#include "podrun/restarts/stall_report.hpp"
#include "podrun/session/mode.hpp"

namespace podrun::restarts {

/// When a try is taken for stuck, and what is looked at before it is stopped.
struct StallSpec {
  StallLimits limits = {};
  std::optional<Regex> progress = std::nullopt;  ///< only lines that match count; none: all output
  std::string script = {};                       ///< of --on-stall; empty: podrun's own
};

/// Finds progress in a stream whose lines come in pieces.
class ProgressReader {
 public:
  /// True if a line, as far as it has come, matches for the first time, or if its new piece matches.
  bool read(const Regex& progress, std::string_view bytes);

 private:
  std::string line_ = {};  ///< its last bytes
  bool has_matched_ = false;
};

/// Looks whether the hosts of a try have stalled: then shows and stores what they do, looks again, and stops
/// them. See --stall in docs/restarts.md.
class StallWatch final : public session::RunWatch {
 public:
  /// What a stall is told as.
  struct Told {
    std::vector<std::size_t> hosts = {};
    std::chrono::seconds silent{0};
    bool is_over = false;        ///< a host has printed again
    std::string directory = {};  ///< where the captures are
  };

  /// `directory`: for the captures; empty: there is none. `tell`: gets each stall, for --json. The arguments
  /// must outlive it.
  StallWatch(const StallSpec& spec, const std::vector<hosts::Host>& hosts, std::string directory,
             std::function<void(output::Output&, const Told&)> tell);

  /// The commands run.
  void start(run::TimePoint now) { started_ = now; }

  asio::awaitable<void> look(run::FanOut& fan_out, output::Output& output) override;
  void received(std::size_t host, StreamId stream, std::string_view bytes) override;

 private:
  /// By the time at which it came over the network: podrun's own output may be blocked.
  struct Heard {
    std::optional<run::TimePoint> last = std::nullopt;
    std::array<ProgressReader, 2> readers = {};  ///< of standard output and standard error
  };

  std::vector<HostSilence> silences(const run::FanOut& fan_out) const;
  asio::awaitable<std::optional<std::vector<Captured>>> capture(run::FanOut& fan_out);
  void store(const std::vector<Captured>& captured) const;
  void show_captured(const std::vector<Captured>& captured, output::Output& output) const;

  const StallSpec& spec_;
  const std::vector<hosts::Host>& hosts_;
  const std::string directory_;
  const std::function<void(output::Output&, const Told&)> tell_;
  std::vector<Heard> heard_;
  std::optional<run::TimePoint> started_ = std::nullopt;
  std::optional<run::TimePoint> not_before_ = std::nullopt;  ///< of the next look
};

}  // namespace podrun::restarts
