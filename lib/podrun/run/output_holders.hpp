// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>

#include "podrun/link/link.hpp"
#include "podrun/remote/supervised.hpp"

namespace podrun {

/// What comes of an output behind the end of its command: sshd tells that at once, though more may be on its
/// way (RFC 4254 6.10 sets no order), which over a slow network takes long. Pure.
class LateOutput {
 public:
  void add(std::size_t bytes) { all_ += bytes; }
  /// From here on it counts what comes next.
  void look() { seen_ = all_; }

  /// Whether more of the command's own must be awaited, and not that of a background child.
  bool is_of_command(bool something_holds_it) const;

 private:
  std::uint64_t all_ = 0;
  std::uint64_t seen_ = 0;
};

/// What holds a command's output open behind its end, `7 (sleep), 8 (sh)`; none when the host does not say so
/// within five seconds: then link and command are stopped, but for a host of which nothing at all is heard,
/// unless `hurried`. All must outlive the call.
asio::awaitable<std::optional<std::string>> name_output_holders(asio::any_io_executor executor, Link& link,
                                                                Supervised& supervised, const bool& hurried);

}  // namespace podrun
