// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <asio/any_io_executor.hpp>

#include "podrun/link/link.hpp"
#include "podrun/local/process.hpp"
#include "podrun/local/via_watch.hpp"

namespace podrun {

/// Reaches this machine: children made from `child` that run /bin/sh.
std::unique_ptr<Connector> make_local_connector(const asio::any_io_executor& executor, ProcessOptions child);

/// The words of `--via` with {host}, {user}, {port} and {rank} to fill in, e.g. `ssh -p {port} {host}`.
class ViaTemplate {
 public:
  /// Throws UsageError when the text has no words, no {host}, an unknown placeholder or an open quote.
  explicit ViaTemplate(std::string_view text);
  /// The words for one host. Throws UsageError when the host names a user or port that no placeholder takes.
  std::vector<std::string> words_for(const Host& host) const;

 private:
  std::string text_;
  std::vector<std::string> words_;
};

/// Reaches hosts through any command that, with `/bin/sh` as its last word, runs a shell there: the program
/// is sent to that shell's standard input. The command itself is a child made from `child`.
std::unique_ptr<Connector> make_via_connector(const asio::any_io_executor& executor, ViaTemplate via,
                                              ProcessOptions child, AliveQuestions questions);

}  // namespace podrun
