// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "podrun/base/chunk.hpp"
#include "podrun/run/run_plan.hpp"
#include "podrun/shell/kept_state.hpp"

namespace podrun::shell {

/// Takes the lines that report a host's directory and variables (line.sh) out of its output, wherever they
/// stand and however they arrive in pieces. All other bytes stay as they are, also lines with an id of
/// another host or line. A report that is not whole, or a second one, is not believed. Pure.
class StateFilter final : public run::OutputFilter {
 public:
  /// `ids`: of each host, as for host_text().
  explicit StateFilter(const std::vector<std::string>& ids);

  Chunk pass(std::size_t host, Chunk bytes) override;
  Chunk finish(std::size_t host) override;

  /// What the host has reported; nothing: it has not, or not to the end, or it is in doubt.
  std::optional<KeptState> state_of(std::size_t host) const;
  /// Whether the output has more lines with the id than one report.
  bool is_in_doubt(std::size_t host) const { return hosts_[host].in_doubt; }

 private:
  struct Reading {
    std::string start;          ///< "~podrun1 <id> "
    std::string held = {};      ///< may be the beginning of a line of ours
    std::string reported = {};  ///< base64
    bool complete = false;
    bool in_doubt = false;
  };

  static void take_lines(Reading& reading, std::string& text);
  static std::size_t possible_start(const Reading& reading, std::string_view text);

  std::vector<Reading> hosts_;
};

}  // namespace podrun::shell
