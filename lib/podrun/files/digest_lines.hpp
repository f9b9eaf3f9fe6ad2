// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace podrun::files {

/// Reads what sums.sh prints as it comes, since a host may never end it. Throws HostError for an endless
/// line.
class DigestLines {
 public:
  using Take = std::function<void(std::string_view digest)>;

  explicit DigestLines(Take take) : take_(std::move(take)) {}

  void feed(std::string_view bytes);

 private:
  Take take_;
  std::string held_;  ///< the beginning of a line
};

}  // namespace podrun::files
