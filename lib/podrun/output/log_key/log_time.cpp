// SPDX-License-Identifier: Apache-2.0
// Recognizes dates and times of day.

#include <algorithm>
#include <array>

#include "podrun/output/log_key/log_fields.hpp"
#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The value of the two digits at `at`.
int two_digits(std::string_view text, std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); }

bool is_date(int month, int day) { return month >= 1 && month <= 12 && day >= 1 && day <= 31; }

std::size_t fraction_size(std::string_view text) {
  if (text.empty() || (text[0] != '.' && text[0] != ',')) return 0;
  const std::size_t digits = digits_size(text.substr(1));
  if (text[0] == '.') return digits >= 1 && digits <= 9 ? 1 + digits : 0;
  if ((digits != 3 && digits != 6) || text.size() == 1 + digits) return 0;  // a column of a table
  constexpr std::string_view kEnds = " ]):";
  return kEnds.find(text[1 + digits]) == kEnds.npos ? 0 : 1 + digits;
}

std::size_t zone_size(std::string_view text) {
  if (text.starts_with('Z')) return 1;
  if (!text.starts_with('+') && !text.starts_with('-')) return 0;
  const std::size_t size = begins_like(text.substr(1), "99:99") ? 6 : 5;
  if (size == 5 && !begins_like(text.substr(1), "9999")) return 0;
  return two_digits(text, 1) <= 14 && two_digits(text, size - 2) % 15 == 0 ? size : 0;
}

/// The size in bytes of a date and the blank or `T` after it.
std::size_t date_size(std::string_view text) {
  std::size_t size = 0;
  if (begins_like(text, "9999-99-99") || begins_like(text, "9999/99/99")) {
    size = is_date(two_digits(text, 5), two_digits(text, 8)) ? 11 : 0;
  } else if (begins_like(text, "99/99/9999")) {
    const int first = two_digits(text, 0);
    const int second = two_digits(text, 3);
    size = is_date(first, second) || is_date(second, first) ? 11 : 0;
  }
  return size != 0 && text.size() > 10 && (text[10] == ' ' || text[10] == 'T') ? size : 0;
}

/// The size in bytes of a date that counts only at the start of a line, and of the blank after it.
std::size_t short_date_size(std::string_view text) {
  if (begins_like(text, "99-99 ")) return is_date(two_digits(text, 0), two_digits(text, 3)) ? 6 : 0;
  if (begins_like(text, "99/99 ")) return is_date(two_digits(text, 0), two_digits(text, 3)) ? 6 : 0;
  if (begins_like(text, "99/99/99 ")) return 9;
  const std::size_t weekday =
      text.size() > 3 && text[3] == ' ' && is_one_of(text.substr(0, 3), kWeekdays) ? 4 : 0;
  const std::string_view month_and_day = text.substr(weekday);
  if (month_and_day.size() < 7 || !is_one_of(month_and_day.substr(0, 3), kMonths)) return 0;
  const std::string_view day = month_and_day.substr(3);
  return begins_like(day, " 99 ") || begins_like(day, "  9 ") ? weekday + 7 : 0;
}

/// Whether a time may end here, so that it is not part of a path, a range or a longer number.
bool may_end(std::string_view rest) {
  if (rest.empty()) return true;
  if (is_word(rest[0]) || rest[0] == '/') return false;
  if (rest.size() == 1) return true;
  if (rest[0] == ':') return !is_digit(rest[1]);
  return !((rest[0] == '.' || rest[0] == '-' || rest[0] == '+') && is_word(rest[1]));
}

}  // namespace

std::size_t clock_size(std::string_view text) {
  if (!begins_like(text, "99:99:99")) return 0;
  if (two_digits(text, 0) > 23 || two_digits(text, 3) > 59 || two_digits(text, 6) > 60) return 0;
  return 8 + fraction_size(text.substr(8));
}

std::size_t datetime_size(std::string_view text) {
  const std::size_t date = date_size(text);
  const std::size_t clock = date == 0 ? 0 : clock_size(text.substr(date));
  if (clock == 0) return 0;
  const std::size_t size = date + clock + zone_size(text.substr(date + clock));
  return may_end(text.substr(size)) ? size : 0;
}

std::size_t line_start_time_size(std::string_view text) {
  const std::size_t date = short_date_size(text);
  const std::size_t clock = clock_size(text.substr(date));
  if (clock == 0) return 0;
  constexpr std::string_view kBehind = " \t])|:";
  const std::string_view rest = text.substr(date + clock);
  const bool ends = rest.empty() || (kBehind.find(rest[0]) != kBehind.npos && may_end(rest));
  // `00:01:40 in all` is a duration: seconds alone are a time of day only before other parts of a prefix.
  const bool is_bare = date == 0 && clock == 8 && (rest.empty() || rest[0] == ' ');
  const bool is_duration = is_bare && (rest.size() < 2 || is_digit(rest[1]) || is_lower(rest[1]));
  return ends && !is_duration ? date + clock : 0;
}

}  // namespace podrun::output
