// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/exec_text.hpp"

#include <string_view>

#include <fmt/format.h>

namespace podrun {
namespace {

/// Single quotes around all but the three characters that some shell acts on even there: csh on `!`, fish on
/// backslashes, all on the quote.
std::string quote_for_any_shell(std::string_view word) {
  constexpr std::string_view kOutside = "'\\!";
  std::string text;
  bool inside = false;
  for (const char c : word) {
    const bool outside = kOutside.find(c) != std::string_view::npos;
    if (inside == outside) {
      text += '\'';
      inside = !inside;
    }
    if (outside) text += '\\';
    text += c;
  }
  if (inside) text += '\'';
  return text.empty() ? "''" : text;
}

}  // namespace

std::string exec_text(const Program& program) {
  std::string text = program.privilege == Privilege::root ? "exec sudo -n /bin/sh -c " : "exec /bin/sh -c ";
  text += quote_for_any_shell(program.script) + " podrun";
  for (const std::string& argument : program.arguments) {
    if (argument.find('\n') != std::string::npos) {
      throw HostError({"starting /bin/sh", fmt::format("a newline in \"{}\" cannot be sent", argument)});
    }
    text += ' ' + quote_for_any_shell(argument);
  }
  return text;
}

}  // namespace podrun
