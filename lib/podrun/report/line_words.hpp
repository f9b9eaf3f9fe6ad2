// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// Words for one line about processes. Pure.
namespace podrun::report {

inline constexpr std::size_t kLineCells = 79;  ///< of a line

/// In its largest unit: `45 s`, `12 min`, `3 h`, `2 d`.
std::string describe_age(std::chrono::seconds age);

/// `12 s to 3 h`, or one of both if they are the same words.
std::string describe_ages(std::chrono::seconds least, std::chrono::seconds most);

/// The beginning of a line, and as much of a command as has room after it; at least `least` cells.
std::string add_command(std::string begin, const std::string& command, std::size_t least);

/// The text, or the beginning of it and `...`.
std::string cut(const std::string& text, std::size_t cells);

}  // namespace podrun::report
