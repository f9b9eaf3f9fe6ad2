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

namespace podrun::local {

/// Reaches this machine by child processes that run /bin/sh, started with the options in `child`.
std::unique_ptr<link::Connector> make_local_connector(const asio::any_io_executor& executor,
                                                      ProcessOptions child);

/// The words of `--via`, with {host}, {user}, {port} and {rank} to fill in: `ssh -p {port} {host}`.
class ViaTemplate {
 public:
  /// Throws UsageError if the text has no words, no {host}, an unknown placeholder or an open quote.
  explicit ViaTemplate(std::string_view text);
  /// The words for one host. Throws UsageError if the host has a user or port without a placeholder.
  std::vector<std::string> words_for(const hosts::Host& host) const;

 private:
  std::string text_;
  std::vector<std::string> words_;
};

/// Reaches hosts through any command that runs a shell there when `/bin/sh` is its last word. The program is
/// sent to that shell's standard input. The command is a child started with the options in `child`, and noted
/// in `transports`.
std::unique_ptr<link::Connector> make_via_connector(const asio::any_io_executor& executor, ViaTemplate via,
                                                    ProcessOptions child, TransportCommands& transports,
                                                    AliveQuestions questions);

}  // namespace podrun::local
