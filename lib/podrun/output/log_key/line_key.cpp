// SPDX-License-Identifier: Apache-2.0
// The key of a line: what counts when `--dedup` compares lines of several hosts.
#include "podrun/output/log_key/line_key.hpp"

#include <algorithm>
#include <optional>

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

constexpr std::string_view kNumber = "\n#";
constexpr std::string_view kIgnored = "\n-";

/// `2`, `2.31`, `1,024`, `0:12:13`, `2.3e-05`
std::size_t number_size(std::string_view text) {
  std::size_t size = digits_size(text);
  for (std::size_t more = size;
       more < text.size() && (text[more] == '.' || text[more] == ',' || text[more] == ':'); more = size) {
    const std::size_t digits = digits_size(text.substr(more + 1));
    if (digits == 0) break;
    size = more + 1 + digits;
  }
  if (size < text.size() && (text[size] == 'e' || text[size] == 'E')) {
    std::size_t exponent = size + 1;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    const std::size_t digits = digits_size(text.substr(exponent));
    if (digits != 0) size = exponent + digits;
  }
  return size;
}

/// The size in bytes of what stands between the bars of `45%|####5    |`; 0: no bar.
std::size_t bar_size(std::string_view before, std::string_view text) {
  constexpr std::size_t kWidest = 1024;
  if (!before.ends_with("%|")) return 0;
  const std::size_t end = text.substr(0, kWidest).find('|');
  return end == text.npos ? 0 : end;
}

void drop_blanks_and_sign(std::string& out) {
  const bool has_sign = out.ends_with('-') || out.ends_with('+');
  if (has_sign && (out.size() < 2 || !is_word(out[out.size() - 2]))) out.pop_back();
  while (out.ends_with(' ')) out.pop_back();
}

}  // namespace

std::string_view fold_numbers(std::string_view key, std::string& buffer) {
  const auto is_number_at = [&](std::size_t at) {
    return is_digit(key[at]) && (at == 0 || (!is_word(key[at - 1]) && key[at - 1] != '\n'));
  };
  buffer.clear();
  for (std::size_t at = 0; at < key.size();) {
    if (const std::size_t bar = bar_size(key.substr(0, at), key.substr(at))) {
      buffer += kNumber;
      at += bar;
    } else if (is_number_at(at)) {
      drop_blanks_and_sign(buffer);
      buffer += kNumber;
      at += number_size(key.substr(at));
    } else {
      buffer += key[at++];
    }
  }
  return buffer;
}

LineKey::LineKey(const hosts::Host& host, std::size_t rank, const Comparison& comparison)
    : comparison_(comparison), log_key_(host, rank) {}

std::string_view LineKey::key(std::string_view line) {
  const std::string_view kept = comparison_.ignored.empty() ? line : without_ignored(line);
  if (comparison_.same == Same::bytes) return kept;
  const std::string_view folded = log_key(kept);
  return comparison_.same == Same::numbers ? fold_numbers(folded, numbers_) : folded;
}

std::string_view LineKey::without_ignored(std::string_view line) {
  kept_.clear();
  for (std::size_t at = 0; at < line.size();) {
    std::optional<Regex::Match> first;
    for (const Regex& regex : comparison_.ignored) {
      const auto match = regex.find(line, at);
      if (match && (!first || match->begin < first->begin)) first = match;
    }
    kept_.append(line.substr(at, first ? first->begin - at : line.npos));
    if (!first) break;
    kept_ += kIgnored;
    at = first->end;
  }
  return kept_;
}

}  // namespace podrun::output
