// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Small operations on text that several parts need.
namespace podrun {

inline constexpr std::string_view kDigits = "0123456789";
inline constexpr std::size_t npos = std::string_view::npos;

/// The text without leading and trailing blanks and line ends.
std::string_view trim_space(std::string_view text);

/// The parts between the separators, empty ones included. Empty text has one empty part.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Removes the part before the next separator and the separator from the front of the text; returns the part.
/// Without a separator the part is the whole text.
std::string_view take_part(std::string_view& text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Removes leading blanks and tabs and the first word from the text; returns the word.
std::string_view take_word(std::string_view& text);

/// The last line that is not blank, without blanks at its end.
std::string_view last_line(std::string_view text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether it is an ASCII control character.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Converts ASCII letters, in any locale.
std::string lower_case(std::string_view text);

/// Makes the first letter lower case: messages of the system and libssh start with a capital, but follow a
/// colon in podrun's messages.
std::string lower_first(std::string_view text);

/// Reads a number; none unless the text is only decimal digits and the number fits.
std::optional<std::size_t> to_number(std::string_view digits);

/// Reads a port, 1 to 65535; none otherwise.
std::optional<std::uint16_t> to_port(std::string_view digits);

/// 16 hexadecimal digits for the name of a file about this text (FNV-1a): two texts may share them.
std::string short_digest(std::string_view text);

/// A path for messages: `~` stands for `home`.
std::string short_path(const std::string& path, const std::string& home);

/// `1 host`, `4 hosts`.
std::string count_hosts(std::size_t count);

/// The system's message for the current errno.
std::string errno_text();

constexpr std::size_t kMaxJobName = 64;
/// Letters, digits, `_`, `.` and `-`, at most kMaxJobName; the first one is not `.` or `-`.
bool is_job_name(std::string_view name);

/// `512 B`, `1.5 kB`, `20 MB`: units of 1000, two digits or more.
std::string format_bytes(std::uint64_t bytes);

/// A character of a UTF-8 text.
struct Utf8Character {
  std::size_t bytes = 0;  ///< 0: not valid UTF-8
  char32_t value = 0;
};

/// The first character of `text`, which must not be empty. Strict as RFC 3629: no overlong form, no
/// surrogate, nothing above U+10FFFF.
Utf8Character first_utf8(std::string_view text);
/// Whether first_utf8() found no character only since the rest of it has not arrived.
bool is_cut_off_utf8(std::string_view text);

/// Base64 with padding, RFC 4648 section 4.
std::string to_base64(std::string_view bytes);
void append_base64(std::string& text, std::string_view bytes);

/// None unless to_base64() would return exactly this text.
std::optional<std::string> from_base64(std::string_view text);

/// The name that `slip` was probably meant to be, ignoring case: the name with the fewest inserted, deleted
/// or changed letters. None if every name needs more changes than half the letters of `slip`.
std::optional<std::string> nearest_name(std::string_view slip, const std::vector<std::string_view>& names);

/// `did you mean NAME? ` for the nearest name, for a message that goes on; empty if there is none.
std::string did_you_mean(std::string_view slip, const std::vector<std::string_view>& names);

/// A whole number with an optional unit s, m, h or d: `10`, `10s`, `5m`, `2h`; at most ten years.
/// Throws UsageError that names the text.
std::chrono::seconds parse_duration(std::string_view text);

/// `500 ms`, `90 s`, `5 min`, `2 h`: the largest unit that divides it.
std::string format_duration(std::chrono::milliseconds duration);

/// `500ms`, `90s`, `5m`, `2h`: format_duration() as options read it.
std::string duration_option(std::chrono::milliseconds duration);

}  // namespace podrun
