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
/// stand and however they arrive in pieces. All other bytes stay as they are. Pure.
class StateFilter final : public run::OutputFilter {
 public:
  /// `id`: that of line_text().
  StateFilter(std::string_view id, std::size_t hosts);

  Chunk pass(std::size_t host, Chunk bytes) override;
  Chunk finish(std::size_t host) override;

  /// What the host has reported; nothing: it has not, or not to the end.
  std::optional<KeptState> state_of(std::size_t host) const;

 private:
  struct Reading {
    std::string held;      ///< may be the beginning of a line of ours
    std::string reported;  ///< base64
    bool complete = false;
  };

  void take_lines(Reading& reading, std::string& text) const;
  std::size_t possible_start(std::string_view text) const;

  std::string start_;  // "~podrun1 <id> "
  std::vector<Reading> hosts_;
};

}  // namespace podrun::shell
