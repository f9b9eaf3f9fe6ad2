// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// What a line of `podrun shell` leaves to the next one on the same host. Pure.
namespace podrun::shell {

/// The working directory and the exported variables of a shell. podrun's own variables and those of the
/// connection are left out.
struct KeptState {
  std::string directory;
  std::string directory_before;  ///< for `cd -`
  std::map<std::string, std::string> variables;

  friend bool operator==(const KeptState&, const KeptState&) = default;
};

/// Reads what inside.sh writes. Nothing if it is cut.
std::optional<KeptState> parse_kept_state(std::string_view bytes);

/// The sh text that turns a shell with the variables of `fresh` into one in `now`. It may have newlines.
std::string restore(const KeptState& fresh, const KeptState& now);

}  // namespace podrun::shell
