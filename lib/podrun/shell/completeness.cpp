// SPDX-License-Identifier: Apache-2.0
#include "podrun/shell/completeness.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "podrun/local/spawn.hpp"

namespace podrun::shell {
namespace {

/// The messages of bash, dash, busybox sh and ksh where the text ends too early.
constexpr std::array<std::string_view, 11> kEndsEarly = {"unexpected end of file",
                                                         "unexpected EOF",
                                                         "end of file unexpected",
                                                         "nterminated quoted string",
                                                         "EOF in backquote",
                                                         "issing '}'",
                                                         "issing '))'",
                                                         "unmatched '",
                                                         "no closing quote",
                                                         "here document '",
                                                         "unexpected end-of-file"};

bool ends_early(const Parsed& parsed) {
  return std::any_of(kEndsEarly.begin(), kEndsEarly.end(), [&](std::string_view message) {
    return parsed.message.find(message) != std::string::npos;
  });
}

}  // namespace

Completeness judge(const std::string& text, const Parser& parser) {
  const std::optional<Parsed> parsed = parser(text);
  if (!parsed) return Completeness::whole;
  if (!parsed->is_accepted) return ends_early(*parsed) ? Completeness::open : Completeness::wrong;
  // Every shell accepts the end of the text for that of a here-document, and a backslash before it. A further
  // line "if" is an error, unless it belongs to one of these.
  if (text.find("<<") == std::string::npos && !text.ends_with('\\')) return Completeness::whole;
  const std::optional<Parsed> longer = parser(text + "\nif");
  return longer && longer->is_accepted ? Completeness::open : Completeness::whole;
}

std::optional<Parsed> parse_here(const std::string& text) {
  const std::vector<std::vector<std::string>> shells = {{"bash", "--norc", "--noprofile", "-n"},
                                                        {"sh", "-n"}};
  for (const std::vector<std::string>& shell : shells) {
    const local::CommandOutput ended = local::run_on_text(shell, text + '\n');
    if (ended.status) return Parsed{*ended.status == 0, ended.error};
  }
  return std::nullopt;
}

}  // namespace podrun::shell
