// SPDX-License-Identifier: Apache-2.0
#include "podrun/base/regex.hpp"

#include <regex.h>

#include <array>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

// The regexec of AddressSanitizer reads up to a NUL, also with REG_STARTEND.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PODRUN_REGEXEC_NEEDS_NUL
#endif
#endif
#ifdef PODRUN_REGEXEC_NEEDS_NUL
constexpr bool kNeedsNul = true;
#else
constexpr bool kNeedsNul = false;
#endif

[[noreturn]] void refuse(const std::string& text, std::string_view why) {
  throw UsageError(fmt::format("bad regular expression \"{}\": {} (expected one as for grep -E)", text, why));
}

}  // namespace

struct Regex::Compiled {
  explicit Compiled(const std::string& text) {
    const int error = ::regcomp(&expression, text.c_str(), REG_EXTENDED);
    if (error == 0) return;
    std::array<char, 100> message{};
    ::regerror(error, &expression, message.data(), message.size());
    refuse(text, message.data());
  }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() { ::regfree(&expression); }

  regex_t expression{};
};

Regex::Regex(const std::string& text) {
  if (text.find('\0') != std::string::npos) refuse(text, "it has a NUL byte");
  if (text.find("\\d") != std::string::npos) refuse(text, "write [0-9] for \\d");
  compiled_ = std::make_shared<const Compiled>(text);
  if (::regexec(&compiled_->expression, "", 0, nullptr, 0) == 0)
    refuse(text, "it matches the empty text, so every line");
}

std::optional<Regex::Match> Regex::find(std::string_view text, std::size_t from) const {
  const std::string copy(kNeedsNul ? text : "");
  const char* const bytes = kNeedsNul ? copy.c_str() : text.data();
  while (from < text.size()) {
    regmatch_t match{};
    match.rm_so = static_cast<regoff_t>(from);
    match.rm_eo = static_cast<regoff_t>(text.size());
    const int flags = REG_STARTEND | (from == 0 ? 0 : REG_NOTBOL);
    if (::regexec(&compiled_->expression, bytes, 1, &match, flags) != 0) return std::nullopt;
    if (match.rm_eo > match.rm_so)
      return Match{static_cast<std::size_t>(match.rm_so), static_cast<std::size_t>(match.rm_eo)};
    from = static_cast<std::size_t>(match.rm_eo) + 1;
  }
  return std::nullopt;
}

}  // namespace podrun
