// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace podrun {

/// What came of one HTTP request.
struct HttpAnswer {
  int status = 0;           ///< 0: there was no answer
  std::string error = {};   ///< why there was none, for people
  std::string flavor = {};  ///< its header `Metadata-Flavor`
  std::string body = {};
};

/// What discovery asks the outside world, so that it decides the same way for a test.
class Probe {
 public:
  virtual ~Probe() = default;

  /// Nothing when the variable is not set.
  virtual std::optional<std::string> env(const std::string& name) const = 0;

  /// Nothing when there is no such file. Throws UsageError when there is one that cannot be read.
  virtual std::optional<std::string> read_file(const std::string& path) const = 0;

  /// Until its end. Throws UsageError when it cannot be read.
  virtual std::string read_standard_input() const = 0;

  /// The addresses and names that this machine has for itself, `localhost` among them.
  virtual std::vector<std::string> own_names() const = 0;

  /// GETs each of `urls`, with `Metadata-Flavor: Google` and through no proxy, one after the other and
  /// `within` this in all. Behind one without an answer none is asked for: they have its error.
  virtual std::vector<HttpAnswer> http_get(const std::vector<std::string>& urls,
                                           std::chrono::milliseconds within) const = 0;
};

/// The real one.
std::unique_ptr<Probe> make_system_probe();

}  // namespace podrun
