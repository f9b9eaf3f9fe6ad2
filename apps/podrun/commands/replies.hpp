// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/output/sink.hpp"

namespace podrun::commands {

/// Collects what each host prints on standard output, up to 256 KiB.
class Replies : public output::Sink {
 public:
  explicit Replies(std::size_t hosts) : texts_(hosts) {}

  void line(const output::Line& line) override {
    std::string& text = texts_[line.host];
    if (line.stream != StreamId::out || text.size() > kMost) return;
    text += line.text;
    text += '\n';
  }

  const std::string& of(std::size_t host) const { return texts_[host]; }

 private:
  static constexpr std::size_t kMost = 256 * 1024;  ///< bytes of one host

  std::vector<std::string> texts_;
};

}  // namespace podrun::commands
