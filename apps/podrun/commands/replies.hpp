// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "podrun/output/sink.hpp"

namespace podrun::commands {

/// Collects what each host prints, up to 256 KiB of each stream.
class Replies : public output::Sink {
 public:
  explicit Replies(std::size_t hosts) : texts_(hosts), errors_(hosts) {}

  void line(const output::Line& line) override {
    std::string& text = line.stream == StreamId::out ? texts_[line.host] : errors_[line.host];
    if (text.size() > kMost) return;
    text += line.text;
    text += '\n';
  }

  const std::string& of(std::size_t host) const { return texts_[host]; }
  const std::string& errors_of(std::size_t host) const { return errors_[host]; }

 private:
  static constexpr std::size_t kMost = 256 * 1024;  ///< bytes of one host

  std::vector<std::string> texts_;
  std::vector<std::string> errors_;
};

}  // namespace podrun::commands
