// SPDX-License-Identifier: Apache-2.0
// Small operations on text: parts, words, numbers, UTF-8, base64, similar names, durations.
#include "podrun/base/text.hpp"

#include <openssl/evp.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <limits>
#include <numeric>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/error.hpp"

namespace podrun {
namespace {

constexpr std::size_t kLongest = 100;  // every name is shorter

/// The number of inserted, deleted or changed letters that turn one text into the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

constexpr std::int64_t kMaxSeconds = 10LL * 365 * 24 * 3600;

std::int64_t seconds_in(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m") return 60;
  if (unit == "h") return 3600;
  if (unit == "d") return 24 * 3600;
  return 0;
}

}  // namespace

std::string_view trim_space(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
}

std::string_view last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  const std::size_t newline = text.find_last_of("\r\n");
  return newline == std::string_view::npos ? text : text.substr(newline + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

std::string_view take_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string_view take_word(std::string_view& text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  // Several times as fast as find_first_of(), which matters for a long known_hosts.
  const char* const start = std::find_if_not(text.begin(), text.end(), is_blank);
  const char* const end = std::find_if(start, text.end(), is_blank);
  text = {end, static_cast<std::size_t>(text.end() - end)};
  return {start, static_cast<std::size_t>(end - start)};
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

std::string lower_first(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'A' && result[0] <= 'Z')
    result[0] = static_cast<char>(result[0] - 'A' + 'a');
  return result;
}

std::optional<std::size_t> to_number(std::string_view digits) {
  std::size_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

std::optional<std::uint16_t> to_port(std::string_view digits) {
  const std::optional<std::size_t> number = to_number(digits);
  if (!number || *number == 0 || *number > UINT16_MAX) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

std::string short_digest(std::string_view text) {
  std::uint64_t number = 14695981039346656037U;
  for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", number);
}

std::string short_path(const std::string& path, const std::string& home) {
  return !home.empty() && path.starts_with(home + '/') ? '~' + path.substr(home.size()) : path;
}

std::string count_hosts(std::size_t count) { return fmt::format("{} host{}", count, count == 1 ? "" : "s"); }

std::string errno_text() { return std::generic_category().message(errno); }

bool is_job_name(std::string_view name) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !name.empty() && name.size() <= kMaxJobName && kPlain.find(name.front()) != kPlain.npos &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
             name.npos;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, unit > 0 && value < 9.95 ? 1 : 0, kUnits[unit]);
}

Utf8Character first_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  utf8proc_int32_t value = 0;
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                                 static_cast<utf8proc_ssize_t>(text.size()), &value);
  if (size <= 0) return {};
  return {static_cast<std::size_t>(size), static_cast<char32_t>(value)};
}

bool is_cut_off_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return text.size() < size &&
         std::all_of(text.begin() + 1, text.end(), [](unsigned char byte) { return (byte & 0xc0) == 0x80; });
}

void append_base64(std::string& text, std::string_view bytes) {
  const std::size_t before = text.size();
  text.resize(before + (bytes.size() + 2) / 3 * 4 + 1);  // EVP_EncodeBlock adds a NUL
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data() + before),
                  reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.pop_back();
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  append_base64(text, bytes);
  return text;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max() / 2) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size != static_cast<int>(bytes.size())) return std::nullopt;
  if (text.ends_with('=')) bytes.resize(bytes.size() - (text.ends_with("==") ? 2 : 1));
  if (to_base64(bytes) != text) return std::nullopt;  // EVP_DecodeBlock also accepts text that is not base64
  return bytes;
}

std::optional<std::string> nearest_name(std::string_view slip, const std::vector<std::string_view>& names) {
  const std::string written = lower_case(slip.substr(0, kLongest));
  std::optional<std::string> nearest;
  // A more distant name was not meant. With two letters, one change makes another word: `ls` is not `ps`.
  std::size_t least = written.size() <= 2 ? 1 : written.size() / 2 + 1;
  for (const std::string_view name : names) {
    const std::size_t changes = edit_distance(written, lower_case(name));
    if (changes >= least) continue;
    least = changes;
    nearest = name;
  }
  return nearest;
}

std::string did_you_mean(std::string_view slip, const std::vector<std::string_view>& names) {
  const auto nearest = nearest_name(slip, names);
  return nearest ? fmt::format("did you mean {}? ", *nearest) : "";
}

std::chrono::seconds parse_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::int64_t unit = seconds_in({rest, static_cast<std::size_t>(text.data() + text.size() - rest)});
  if (error != std::errc{} || text.starts_with('-') || unit == 0 || number > kMaxSeconds / unit) {
    throw UsageError(
        fmt::format("bad duration \"{}\" (expected a whole number such as 10, 10s, 5m or 2h)", text));
  }
  return std::chrono::seconds(number * unit);
}

std::string format_duration(std::chrono::milliseconds duration) {
  if (duration % std::chrono::seconds(1) != duration.zero()) return fmt::format("{} ms", duration.count());
  const auto count = duration / std::chrono::seconds(1);
  if (count != 0 && count % 3600 == 0) return fmt::format("{} h", count / 3600);
  if (count != 0 && count % 60 == 0) return fmt::format("{} min", count / 60);
  return fmt::format("{} s", count);
}

std::string duration_option(std::chrono::milliseconds duration) {
  std::string text = format_duration(duration);
  text.erase(text.find(' '), 1);
  if (text.ends_with("min")) text.resize(text.size() - 2);
  return text;
}

}  // namespace podrun
