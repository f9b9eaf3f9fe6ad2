// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

// Words for one line about processes. Pure.
namespace podrun::report {

/// The most cells of a line.
inline constexpr std::size_t kLineCells = 79;

/// The age in its largest unit: `45 s`, `12 min`, `3 h`, `2 d`.
std::string describe_age(std::chrono::seconds age);

/// `12 s to 3 h`, or one age if both have equal words.
std::string describe_ages(std::chrono::seconds least, std::chrono::seconds most);

/// Appends to a line as much of the command as fits, and at least `least` cells of it.
std::string add_command(std::string begin, const std::string& command, std::size_t least);

/// The text, or its beginning and `...` if it is wider than `cells`.
std::string cut(const std::string& text, std::size_t cells);

}  // namespace podrun::report
