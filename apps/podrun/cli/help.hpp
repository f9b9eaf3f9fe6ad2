// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "cli/books.hpp"
#include "cli/podrun_command.hpp"

// The pages of help, made from the table of commands and the table of options.
namespace podrun::cli {

inline constexpr std::string_view kWordsText =
    "Several words after -- run as these exact words; one word is shell text.";
inline constexpr std::string_view kValuesText =
    "TIME is 10, 10s, 5m or 2h. Every option without a value has a --no- form.";
inline constexpr std::string_view kKeysText =
    "Keys: Ctrl-C interrupts the commands; a second one sends TERM, then KILL after --grace; a third exits "
    "at once. Ctrl-\\ sends QUIT. Ctrl-Z suspends only podrun. Enter lists the hosts that run and those that "
    "failed.";
inline constexpr std::string_view kStatusText =
    "Exit status: the largest of all hosts (the command's own; 124 timed out; 128+N killed by signal N; 255 "
    "unreachable or lost); 2 wrong usage; 130 or 143 interrupted; 141 the reader of the output closed it.";

/// The clause of help about this option, with its default.
std::string help_of(const OptionEntry& option);

// Their lines have at most `width` columns.
/// `podrun` alone, on a terminal: usage and six examples.
std::string first_page(std::span<const CommandRow> commands, std::size_t width);

/// `podrun --help`: the commands and the most used options, on one screen of 50 lines by 80 columns.
std::string overview_page(std::span<const CommandRow> commands, const OptionTable& table, std::size_t width);

/// `podrun COMMAND --help`: how it is used, its own options and the most used others, on one screen of 50
/// lines by 80 columns.
std::string short_command_page(const CommandRow& command, const OptionTable& table, std::size_t width);

/// `podrun COMMAND --help all`: how it is used, and every option that it takes.
std::string command_page(const CommandRow& command, const OptionTable& table, std::size_t width);

/// `podrun help all`: every command and every option.
std::string full_page(std::span<const CommandRow> commands, const OptionTable& table, std::size_t width);

/// The last line of `podrun COMMAND --help`: where there is more to read; empty: nowhere.
std::string more_about(const CommandRow& command);

/// `podrun help pages`, `podrun example`: their names, and what each is about.
std::string list_of_books(std::string_view heading, std::span<const Book> books, std::size_t width);

/// `podrun help man`: podrun(1) in the macros of man(7).
std::string man_page(std::span<const CommandRow> commands, const OptionTable& table);

/// `podrun 0.1.0 (1a2b3c4d5e6f)`; no commit where podrun was not built in a clone of its repository.
std::string version_line();

/// The width of the pages: that of the terminal that standard output is, but at least 80.
std::size_t page_width();

}  // namespace podrun::cli
