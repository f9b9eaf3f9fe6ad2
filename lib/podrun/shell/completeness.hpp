// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace podrun::shell {

/// The answer of a shell that parses a text and runs nothing of it (`sh -n`).
struct Parsed {
  bool is_accepted = false;
  std::string message = {};  ///< on standard error
};

/// None if there is no such shell.
using Parser = std::function<std::optional<Parsed>(const std::string& text)>;

/// open: further lines may make a command of the text, as after an open quote, `if` or here-document, `&&` or
/// `\`. wrong: a syntax error, at least for a shell of this machine.
enum class Completeness { whole, open, wrong };

/// Pure but for the parser. Without one, each line is whole.
Completeness judge(const std::string& text, const Parser& parser);

/// bash of this machine, else its sh. Gets the text through a descriptor, and an empty environment.
std::optional<Parsed> parse_here(const std::string& text);

}  // namespace podrun::shell
