// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// The words in a line of a host list. Pure.
namespace podrun::hosts {

/// Without blanks around it.
std::string_view trim(std::string_view text);

/// Throws UsageError that begins with `where`.
void refuse_control_characters(std::string_view text, std::string_view where);

/// `slots = 8` as `slots=8`.
std::string without_blanks_around_equals(std::string_view line);

/// Whether it is between hosts: `,` or `;`.
bool is_comma(char c);

/// Takes the next word from the line: up to a blank or a comma outside brackets; a file's name (`^my list`)
/// up to a comma.
std::string_view take_list_word(std::string_view& line);

bool is_quoted(std::string_view word);

/// Whether it is a line of SGE's $PE_HOSTFILE: `host 4 all.q@host UNDEFINED` (sge_pe(5)).
bool is_of_grid_engine(std::string_view line);

}  // namespace podrun::hosts
