// SPDX-License-Identifier: Apache-2.0
#include "podrun/output/escape.hpp"

#include <random>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "podrun/base/text.hpp"

namespace podrun::output {
namespace {

TEST(EscapeControls, LeavesTextAsItIs) {
  EXPECT_EQ(escape_controls(""), "");
  EXPECT_EQ(escape_controls("a b~"), "a b~");
  EXPECT_EQ(escape_controls("grün €  𝄞"), "grün €  𝄞");
}

TEST(EscapeControls, ShowsControlCharacters) {
  EXPECT_EQ(escape_controls("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(escape_controls(std::string_view("a\0b\r\n\t\x7f", 7)), "a\\x00b\\x0d\\x0a\\x09\\x7f");
  EXPECT_EQ(escape_controls("\xc2\x9b"
                            "2J"),
            "\\xc2\\x9b2J")
      << "CSI as one character";
}

TEST(EscapeControls, ShowsWhatTurnsTheWritingDirection) {
  EXPECT_EQ(escape_controls("a\xe2\x80\xae"
                            "b\xe2\x81\xa6"),
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6");
  EXPECT_EQ(escape_controls("שלום"), "שלום") << "the writing itself stays";
}

TEST(EscapeControls, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(escape_controls("\x9b"
                            "2J"),
            "\\x9b2J");
  EXPECT_EQ(escape_controls("\xe2\x82"), "\\xe2\\x82") << "cut off";
  EXPECT_EQ(escape_controls("\xe2\x82\x1b"), "\\xe2\\x82\\x1b");
  EXPECT_EQ(escape_controls("\xc0\x9b\xff"), "\\xc0\\x9b\\xff") << "overlong";
}

TEST(TerminalLine, LeavesTextTabsAndColors) {
  EXPECT_EQ(terminal_line(""), "");
  EXPECT_EQ(terminal_line("a\tb grün € 𝄞"), "a\tb grün € 𝄞");
  for (const std::string color : {"\x1b[m", "\x1b[31m", "\x1b[0;1;4;38;5;8m", "\x1b[48;2;8;8;8;1m",
                                  "\x1b[4:3m", "\x1b[38:2::8:8:8m", "\x1b[97;107m"}) {
    EXPECT_EQ(terminal_line("a" + color + "b"), "a" + color + "b\x1b[0m");
  }
}

TEST(TerminalLine, LeavesOutEraseInLine) {
  EXPECT_EQ(terminal_line("\x1b[2K50%\x1b[K"), "50%");
  EXPECT_EQ(terminal_line("\x1b[01;31m\x1b[Kmatch\x1b[m\x1b[K"), "\x1b[01;31mmatch\x1b[m\x1b[0m")
      << "GNU grep";
}

TEST(TerminalLine, LeavesOutTheCursor) {
  EXPECT_EQ(terminal_line("\x1b[?25l50%\x1b[?25h"), "50%") << "pip";
  EXPECT_EQ(terminal_line("\x1b[?25"), "\\x1b[?25");
  EXPECT_EQ(terminal_line("\x1b[?1049h"), "\\x1b[?1049h");
}

TEST(TerminalLine, EscapesWhatCouldAct) {
  EXPECT_EQ(terminal_line("\x1b[A\x1b[2J\x1b]0;title\a"), "\\x1b[A\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(terminal_line("a\rb\bc\nd\x7f"), "a\\x0db\\x08c\\x0ad\\x7f");
  EXPECT_EQ(terminal_line("\x9b"
                          "A\xc2\x9b"
                          "A\xe2\x80\xae"),
            "\\x9bA\\xc2\\x9bA\\xe2\\x80\\xae");
  EXPECT_EQ(terminal_line("\x1b[>4;2m\x1b[?4m\x1b[1 m"), "\\x1b[>4;2m\\x1b[?4m\\x1b[1 m") << "no SGR";
  EXPECT_EQ(terminal_line("\x1b[31"), "\\x1b[31");
  EXPECT_EQ(terminal_line("\x1b"), "\\x1b");
  EXPECT_EQ(terminal_line("\x1b[" + std::string(100, '1') + "m"), "\\x1b[" + std::string(100, '1') + "m");
}

TEST(TerminalLine, HidesNoText) {
  for (const std::string conceal : {"8", "1;8", "38;5;1;8", "8:1", "38;1;8"})
    EXPECT_EQ(terminal_line("\x1b[" + conceal + "m"), "\\x1b[" + conceal + "m");
  EXPECT_EQ(terminal_line("\x1b[11m"), "\\x1b[11m") << "another font, which a reset does not end";
}

TEST(TerminalStream, LeavesLinesAndBarsAndResetsColorsAtTheEndOfALine) {
  TerminalStream stream;
  EXPECT_EQ(stream.add("Password:"), "Password:");
  EXPECT_EQ(stream.add("\r\x1b[K\x1b[32m50%\r\n\x1b[A"), "\r\x1b[K\x1b[32m50%\r\x1b[0m\n\\x1b[A");
  EXPECT_EQ(stream.add("a\x1b[1m"), "a\x1b[1m");
  EXPECT_EQ(stream.end(), "\x1b[0m");
  EXPECT_EQ(stream.end(), "");
}

TEST(TerminalStream, WaitsForTheRestOfASequence) {
  TerminalStream stream;
  EXPECT_EQ(stream.add("a\x1b[3"), "a");
  EXPECT_EQ(stream.add("1mb\xe2\x82"), "\x1b[31mb");
  EXPECT_EQ(stream.add("\xac\x1b[?2"), "€");
  EXPECT_EQ(stream.add("5h\x1b"), "");
  EXPECT_EQ(stream.end(), "\\x1b\x1b[0m");
}

/// Bytes in which sequences and characters begin, end and break off more often than by chance.
std::string random_bytes(std::mt19937& random) {
  static const std::string parts[] = {
      "\x1b", "\x1b[", "\x1b]0;", "[",    "31",   "8",    ";",    "m",    "K",    "A",    "\r",   "\n", "\t",
      "\b",   "\a",    "\x9b",    "\xc2", "\x9b", "\xe2", "\x80", "\xae", "\xff", "text", "\x7f", "€",  "?"};
  std::string bytes;
  for (auto count = random() % 30; count > 0; --count) {
    bytes += random() % 8 == 0 ? std::string(1, static_cast<char>(random() % 256))
                               : parts[random() % std::size(parts)];
  }
  return bytes;
}

/// The first thing in it that may act on a terminal and is not one of `allowed`.
std::string what_acts(const std::string& text, const char* allowed) {
  const std::string rest = std::regex_replace(text, std::regex(allowed), "");
  for (std::string_view left = rest; !left.empty();) {
    const Utf8Character first = first_utf8(left);
    const bool is_control = first.value < 0x20 || (first.value >= 0x7f && first.value < 0xa0);
    const bool is_bidirectional = first.value == 0x202e || (first.value >= 0x2066 && first.value <= 0x2069);
    if (first.bytes == 0 || is_control || is_bidirectional) return std::string(left);
    left.remove_prefix(first.bytes);
  }
  return {};
}

TEST(TerminalText, HasNoControlsButTheAllowedOnesWhateverAHostPrints) {
  std::mt19937 random(11);
  for (int round = 0; round < 5000; ++round) {
    const std::string bytes = random_bytes(random);
    const std::string line = terminal_line(bytes);
    ASSERT_EQ(what_acts(line, "\x1b\\[[0-9;:]*m|\t"), "") << testing::PrintToString(bytes);
    ASSERT_TRUE(line.find("\x1b[") == std::string::npos || line.ends_with("\x1b[0m"))
        << testing::PrintToString(bytes);
    if (is_plain_text(bytes)) {
      ASSERT_EQ(line, bytes);
    }

    TerminalStream whole;
    std::string expected = whole.add(bytes);
    expected += whole.end();
    ASSERT_EQ(what_acts(expected, "\x1b\\[[0-9;:]*m|\x1b\\[[012]?K|[\t\r\n]"), "")
        << testing::PrintToString(bytes);
    TerminalStream in_parts;
    std::string shown;
    for (std::size_t begin = 0, size = 0; begin < bytes.size(); begin += size) {
      size = 1 + random() % 4;
      shown += in_parts.add(std::string_view(bytes).substr(begin, size));
    }
    shown += in_parts.end();
    ASSERT_EQ(shown, expected) << testing::PrintToString(bytes);
  }
}

}  // namespace
}  // namespace podrun::output
