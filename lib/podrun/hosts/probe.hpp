// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace podrun::hosts {

/// The result of one HTTP request.
struct HttpAnswer {
  int status = 0;           ///< no answer
  std::string error = {};   ///< why there was no answer, for people
  std::string flavor = {};  ///< its header `Metadata-Flavor`
  std::string body = {};
};

/// The outside world of discovery, which tests replace.
class Probe {
 public:
  virtual ~Probe() = default;

  /// None if the variable is not set.
  virtual std::optional<std::string> env(const std::string& name) const = 0;

  /// None if there is no such file. Throws UsageError if the file cannot be read.
  virtual std::optional<std::string> read_file(const std::string& path) const = 0;

  /// Reads to the end. Throws UsageError on failure.
  virtual std::string read_standard_input() const = 0;

  /// This machine's own addresses and names, `localhost` among them.
  virtual std::vector<std::string> own_names() const = 0;

  /// GETs each of `urls` in turn, with `Metadata-Flavor: Google` and without a proxy; all must fit in
  /// `within`. After one without an answer the rest is not requested and gets its error.
  virtual std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls,
                                           std::chrono::milliseconds within) const = 0;
};

/// The probe of the real machine.
std::unique_ptr<Probe> make_system_probe();

/// The directory for what podrun can make again, `~/.cache/podrun`; none where neither XDG_CACHE_HOME nor
/// HOME is set (https://specifications.freedesktop.org/basedir-spec).
std::optional<std::string> cache_directory(const Probe& probe);
/// The directory for what podrun remembers, `~/.local/state/podrun`; as above, of XDG_STATE_HOME.
std::optional<std::string> state_directory(const Probe& probe);

/// Throws UsageError if others may write to this file in state_directory(), or exchange it.
void check_state(const std::string& name, const Probe& probe);
/// The text of a file in state_directory(); empty if there is none, or others may write to it.
std::string recall_state(const std::string& name, const Probe& probe);
/// Replaces the file. Ignores failures, since what depends on it is a convenience.
void remember_state(const std::string& name, const std::string& text, const Probe& probe);

/// Implements Probe::http_get() of the system probe.
std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls, std::chrono::milliseconds within);

}  // namespace podrun::hosts
