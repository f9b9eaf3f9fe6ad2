// SPDX-License-Identifier: Apache-2.0
#include "podrun/ssh/auth/server_texts.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "podrun/base/text.hpp"

namespace podrun::ssh {
namespace {

constexpr std::chrono::seconds kInterval{1};

// A server may send texts without end, each another one.
constexpr std::size_t kMostTexts = 2'000;  // of all hosts: each may have an address of its own
constexpr std::size_t kMostLines = 20;     // of one text
constexpr std::size_t kLongestLine = 500;
constexpr std::size_t kLongestMessage = 300;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kMostLines) {
    const std::string_view line = trim_space(take_part(text, '\n'));
    if (!line.empty()) lines.push_back(line.substr(0, kLongestLine));
  }
  return lines;
}

}  // namespace

void ServerTexts::tell(const std::string& host, const std::string& text) {
  if (!tell_ || told_.size() >= kMostTexts || !told_.insert(in_one_line(text)).second) return;
  for (const std::string_view line : lines_of(text)) tell_(host, std::string(line));
}

std::string in_one_line(const std::string& text) {
  std::string one;
  for (const std::string_view line : lines_of(text)) {
    if (!one.empty()) one += ' ';
    one += line;
  }
  return one.substr(0, kLongestMessage);
}

ServerTextWatch::ServerTextWatch(const asio::any_io_executor& executor, std::function<void()> tell)
    : tell_(std::move(tell)), timer_(executor) {
  arm();
}

void ServerTextWatch::arm() {
  timer_.expires_after(kInterval);
  timer_.async_wait([this, lives = std::weak_ptr(lives_)](const std::error_code& cancelled) {
    if (cancelled || !lives.lock()) return;
    tell_();
    arm();
  });
}

}  // namespace podrun::ssh
