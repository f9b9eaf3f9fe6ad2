// SPDX-License-Identifier: Apache-2.0
// Any line: its key is the line with nothing left out but fields, so that lines of one key differ in these
// alone, and never in a loss.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "podrun/output/log_key/line_key.hpp"

namespace {

using podrun::output::LineKey;
using podrun::output::Same;

/// A host that has printed nothing yet.
LineKey host() {
  static const LineKey three = [] {
    podrun::hosts::Host host;
    host.worker = 5;
    host.name = "tpu-3.c.internal";
    LineKey key(host, 3, {.same = Same::log_line}, 8);
    key.add_names({"10.0.0.3", "2001:db8::3"});
    return key;
  }();
  return three;
}

bool has_only(std::string_view text, std::string_view bytes) {
  return text.find_first_not_of(bytes) == text.npos;
}

bool is_clock(std::string_view text) {
  if (!has_only(text, "0123456789:.,-/+_ TZJanFebMrApyJulgSectOvNDMoWdhi")) return false;
  const std::size_t colon = text.find(':');
  return colon != text.npos && text.substr(colon).find(':', 1) != text.npos;
}

bool is_name(std::string_view text) {
  return has_only(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.");
}

/// Whether what a key has as `kind` may stand for this text.
bool is_field(char kind, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  switch (kind) {
    case 't':
      return is_clock(text) || has_only(text, "0123456789. ") || has_only(text, "0123456789-_");
    case 'p':
      return has_only(text.substr(std::min(text.find_first_not_of(' '), text.size() - 1)), kDigits);
    case 'n':
      return is_name(text);
    case 'i':
      return has_only(text, "0123456789abcdef.:");
    case 'x':
      return text.starts_with("0x") && text.size() >= 8 && text.size() <= 18 && is_name(text);
    case 'r':
      return text == "3" || text == "4";  // `MEMBER: 4/8` counts from 1
    case 'R':
      return has_only(text, kDigits);
    case 'm':
      return has_only(text, "0123456789.,:e+-");
    case 'w':
      return text == "5";
    case 'q':
      return text.find('=') == text.npos && (text.find(':') != text.npos || has_only(text, "/\\|-"));
    default:
      return false;
  }
}

/// Whether fields in the places that the key says make the line of it.
bool fits(std::string_view key, std::string_view line) {
  std::set<std::size_t> ends = {0};
  for (std::size_t at = 0; at < key.size(); ++at) {
    std::set<std::size_t> next;
    for (const std::size_t end : ends) {
      if (key[at] != '\n') {
        if (end < line.size() && line[end] == key[at]) next.insert(end + 1);
        continue;
      }
      for (std::size_t size = 1; end + size <= line.size(); ++size) {
        if (is_field(key[at + 1], line.substr(end, size))) next.insert(end + size);
      }
    }
    if (key[at] == '\n') ++at;
    ends = std::move(next);
  }
  return ends.contains(line.size());
}

std::string key_of(std::string_view line) {
  LineKey key = host();
  return std::string(key.key(line));
}

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

// The first byte says where the loss is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string line(data + 1, data + size);
  line.resize(std::min<std::size_t>(line.find('\n'), std::min<std::size_t>(line.size(), 200)));
  const std::string key = key_of(line);
  expect(fits(key, line) || key.find("\nm") != key.npos);  // blanks before a measure are no part of a key

  const std::size_t at = std::min<std::size_t>(data[0], line.size());
  const auto with_loss = [&](std::string_view loss) { return std::string(line).insert(at, loss); };
  for (const std::string_view loss : {" loss 2.31; ", "loss=2.31;", ", loss: 2.31;"}) {
    std::string other(loss);
    other[other.find("31") + 1] = '2';
    expect(key_of(with_loss(loss)) != key_of(with_loss(other)));
  }
  return 0;
}
