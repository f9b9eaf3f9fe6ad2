// SPDX-License-Identifier: Apache-2.0
// The keys that the bytes of a terminal stand for. Cursor keys come as CSI (`ESC [`) or, in the application
// mode of cursor keys, as SS3 (`ESC O`).
#include "podrun/top/keys.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "podrun/base/text.hpp"
#include "podrun/output/escape.hpp"

namespace podrun::top {
namespace {

using Kind = Key::Kind;

constexpr char kEsc = '\x1b';
constexpr std::string_view kPasteBegin = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";

/// A longer sequence is not a key.
constexpr std::size_t kLongest = 256;

/// The first key, or other thing, of some bytes.
struct Token {
  std::size_t bytes = 0;  ///< 0: the rest of it has not arrived
  std::optional<Key> key = {};
};

bool is_between(char c, unsigned char first, unsigned char last) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= first && byte <= last;
}

/// `final` ends a CSI or SS3 sequence.
std::optional<Key> key_of_letter(char final) {
  constexpr std::string_view kLetters = "ABCDHF";
  constexpr std::array kKinds = {Kind::up, Kind::down, Kind::right, Kind::left, Kind::home, Kind::end};
  const std::size_t place = kLetters.find(final);
  return place == kLetters.npos ? std::nullopt : std::optional(Key{kKinds[place]});
}

/// Of `ESC [ NUMBER ~`. The VT220, the Linux console and rxvt differ on home and end.
std::optional<Key> key_of_number(std::string_view number) {
  constexpr std::string_view kNumbers = "174856";
  constexpr std::array kKinds = {Kind::home, Kind::home,    Kind::end,
                                 Kind::end,  Kind::page_up, Kind::page_down};
  const std::size_t place = number.size() == 1 ? kNumbers.find(number) : kNumbers.npos;
  return place == kNumbers.npos ? std::nullopt : std::optional(Key{kKinds[place]});
}

std::optional<Key> key_of_csi(std::string_view parameters, char final) {
  if (!parameters.empty() && !is_between(parameters.front(), '0', '9')) return std::nullopt;
  return final == '~' ? key_of_number(parameters.substr(0, parameters.find(';'))) : key_of_letter(final);
}

/// ECMA-48, 5.4: parameters, intermediate bytes, a final byte.
Token first_csi(std::string_view text) {
  std::size_t end = 2;
  if (text.size() > 2 && text[2] == '[') return {text.size() > 3 ? 4U : 0U};  // F1 to F5 of the Linux console
  while (end < text.size() && is_between(text[end], 0x30, 0x3f)) ++end;
  const std::string_view parameters = text.substr(2, end - 2);
  const std::size_t intermediate = end;
  while (end < text.size() && is_between(text[end], 0x20, 0x2f)) ++end;
  if (end == text.size()) return {};
  if (!is_between(text[end], 0x40, 0x7e)) return {end};  // broken off: another byte comes first
  if (end > intermediate) return {end + 1};
  return {end + 1, key_of_csi(parameters, text[end])};
}

Token first_ss3(std::string_view text) {
  if (text.size() == 2) return {};
  if (!is_between(text[2], 0x40, 0x7e)) return {2};
  if (text[2] == 'M') return {3, Key{Kind::enter}};
  return {3, key_of_letter(text[2])};
}

/// ECMA-48, 5.6: an answer of the terminal, up to ST. xterm may end it with BEL.
Token first_string(std::string_view text) {
  const std::size_t end = text.find_first_of("\a\x1b", 2);
  if (end == std::string_view::npos || (text[end] == kEsc && end + 1 == text.size())) return {};
  if (text[end] == kEsc && text[end + 1] != '\\') return {end};
  return {text[end] == kEsc ? end + 2 : end + 1};
}

Token first_character(std::string_view text) {
  const Utf8Character first = first_utf8(text);
  if (first.bytes == 0) return {is_cut_off_utf8(text) ? 0U : 1U};
  if (output::acts_on_terminal(first.value)) return {first.bytes};
  return {first.bytes, Key{Kind::character, std::string(text.substr(0, first.bytes))}};
}

Token first_escape(std::string_view text) {
  constexpr std::string_view kStrings = "]PX^_";
  if (text.size() == 1) return {};
  if (text[1] == '[') return first_csi(text);
  if (text[1] == 'O') return first_ss3(text);
  if (text[1] == kEsc) return {1, Key{Kind::escape}};
  if (kStrings.find(text[1]) != kStrings.npos) return first_string(text);
  const std::size_t with_alt = first_character(text.substr(1)).bytes;
  return {with_alt == 0 ? 0 : 1 + with_alt};
}

Token first_token(std::string_view text) {
  const char first = text.front();
  if (first == kEsc) return first_escape(text);
  if (first == '\r' || first == '\n') return {1, Key{Kind::enter}};
  if (first == '\t') return {1, Key{Kind::tab}};
  if (first == '\b' || first == '\x7f') return {1, Key{Kind::backspace}};
  return first_character(text);
}

/// The bytes before the end mark of a paste and with it; all but a possible beginning of it where it has not
/// arrived.
std::pair<std::size_t, bool> rest_of_paste(std::string_view text) {
  const std::size_t end = text.find(kPasteEnd);
  if (end != std::string_view::npos) return {end + kPasteEnd.size(), true};
  std::size_t kept = std::min(text.size(), kPasteEnd.size() - 1);
  while (!kPasteEnd.starts_with(text.substr(text.size() - kept))) --kept;
  return {text.size() - kept, false};
}

}  // namespace

std::vector<Key> KeyReader::feed(std::string_view bytes) {
  std::vector<Key> keys;
  waiting_ += bytes;
  std::string_view text = waiting_;
  while (!text.empty()) {
    if (in_paste_) {
      const auto [dropped, ended] = rest_of_paste(text);
      text.remove_prefix(dropped);
      in_paste_ = !ended;
      if (in_paste_) break;
      continue;
    }
    Token token = first_token(text);
    if (token.bytes == 0 && text.size() < kLongest) break;
    if (token.bytes == 0) token.bytes = text.size();
    in_paste_ = text.substr(0, token.bytes) == kPasteBegin;
    if (token.key) keys.push_back(std::move(*token.key));
    text.remove_prefix(token.bytes);
  }
  waiting_.erase(0, waiting_.size() - text.size());
  return keys;
}

bool KeyReader::is_unfinished() const { return !in_paste_ && waiting_.starts_with(kEsc); }

std::vector<Key> KeyReader::flush() {
  if (!is_unfinished()) return {};
  if (std::exchange(waiting_, {}).size() > 1) return {};
  return {Key{Kind::escape}};
}

}  // namespace podrun::top
