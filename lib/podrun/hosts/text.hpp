// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Small pieces of what sources of hosts are made of.
namespace podrun {

/// Without blanks and ends of lines around it.
std::string_view trim_space(std::string_view text);

/// A control byte of ASCII.
constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Nothing unless it is decimal digits alone, of a number that fits.
std::optional<std::size_t> to_number(std::string_view digits);

/// Nothing unless it is a port: 1 to 65535.
std::optional<std::uint16_t> to_port(std::string_view digits);

/// One of 0 to count - 1. Throws UsageError that begins with `where`.
std::size_t parse_rank(std::string_view text, std::size_t count, std::string_view where);

/// `1 host`, `4 hosts`.
std::string count_hosts(std::size_t count);

}  // namespace podrun
