// SPDX-License-Identifier: Apache-2.0
#include "podrun/top/keys.hpp"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace podrun::top {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Kind = Key::Kind;

Key character(std::string text) { return {Kind::character, std::move(text)}; }

std::vector<Key> keys_of(std::string_view bytes) {
  KeyReader reader;
  std::vector<Key> keys = reader.feed(bytes);
  EXPECT_FALSE(reader.is_unfinished()) << bytes;
  return keys;
}

TEST(Keys, KnowsEveryKeyInEachOfItsForms) {
  const std::vector<std::pair<Kind, std::vector<std::string>>> forms = {
      {Kind::up, {"\x1b[A", "\x1bOA", "\x1b[1;5A"}},
      {Kind::down, {"\x1b[B", "\x1bOB", "\x1b[1;2B"}},
      {Kind::right, {"\x1b[C", "\x1bOC"}},
      {Kind::left, {"\x1b[D", "\x1bOD"}},
      {Kind::page_up, {"\x1b[5~", "\x1b[5;2~"}},
      {Kind::page_down, {"\x1b[6~"}},
      {Kind::home, {"\x1b[H", "\x1bOH", "\x1b[1~", "\x1b[7~"}},
      {Kind::end, {"\x1b[F", "\x1bOF", "\x1b[4~", "\x1b[8~"}},
      {Kind::enter, {"\r", "\n", "\x1bOM"}},
      {Kind::tab, {"\t"}},
      {Kind::backspace, {"\x7f", "\b"}}};
  for (const auto& [kind, texts] : forms) {
    for (const std::string& bytes : texts) EXPECT_THAT(keys_of(bytes), ElementsAre(Key{kind})) << bytes;
  }
}

TEST(Keys, GivesCharactersOneByOne) {
  EXPECT_THAT(keys_of("q+ \xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
              ElementsAre(character("q"), character("+"), character(" "), character("é"), character("€"),
                          character("😀")));
}

TEST(Keys, WaitsForTheRestOfASequenceOrCharacter) {
  const std::string bytes = "a\x1b[1;5A\xe2\x82\xac\x1bOB\x1b[6~z";
  KeyReader reader;
  std::vector<Key> keys;
  for (const char byte : bytes) {
    for (Key& key : reader.feed({&byte, 1})) keys.push_back(std::move(key));
  }
  EXPECT_THAT(keys, ElementsAre(character("a"), Key{Kind::up}, character("€"), Key{Kind::down},
                                Key{Kind::page_down}, character("z")));
}

TEST(Keys, GivesALoneEscAfterAMoment) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b"), IsEmpty());
  EXPECT_TRUE(reader.is_unfinished());
  EXPECT_THAT(reader.flush(), ElementsAre(Key{Kind::escape}));
  EXPECT_FALSE(reader.is_unfinished());
  EXPECT_THAT(reader.flush(), IsEmpty());
  EXPECT_THAT(reader.feed("[A"), ElementsAre(character("["), character("A")));
}

TEST(Keys, GivesEachEscThatAnotherOneFollows) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b\x1b\x1b[A\x1b"),
              ElementsAre(Key{Kind::escape}, Key{Kind::escape}, Key{Kind::up}));
  EXPECT_THAT(reader.flush(), ElementsAre(Key{Kind::escape}));
}

TEST(Keys, DropsTheBeginningOfASequenceThatDoesNotGoOn) {
  for (const std::string bytes : {"\x1b[", "\x1bO", "\x1b[1;", "\x1b]", "\x1b[["}) {
    KeyReader reader;
    EXPECT_THAT(reader.feed(bytes), IsEmpty());
    EXPECT_TRUE(reader.is_unfinished()) << bytes;
    EXPECT_THAT(reader.flush(), IsEmpty());
    EXPECT_THAT(reader.feed("q"), ElementsAre(character("q"))) << bytes;
  }
}

TEST(Keys, FlushKeepsTheBeginningOfACharacter) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\xe2\x82"), IsEmpty());
  EXPECT_FALSE(reader.is_unfinished());
  EXPECT_THAT(reader.flush(), IsEmpty());
  EXPECT_THAT(reader.feed("\xac"), ElementsAre(character("€")));
}

TEST(Keys, GivesNoKeyForWhatItDoesNotKnow) {
  for (const std::string bytes : {
           "\x1b[3~",  // Delete
           "\x1bOP",
           "\x1b[[A",
           "\x1b[11~",  // F1
           "\x1b[Z",    // Shift-Tab
           "\x1bq",
           "\x1b\xc3\xa9",
           "\x1b\r",  // with Alt
           "\x1b[I",
           "\x1b[O",
           "\x1b[<0;3;4M",  // focus, mouse
           "\x1b[?1;2c",
           "\x1b[24;80R",
           "\x1b[?5~",  // answers
           "\x1b]11;rgb:0/0/0\x1b\\",
           "\x1b]0;title\a",  // OSC
           "\x1bP1$r0m\x1b\\",
           "\x1b[ A",  //
           "\x01",
           "\x0c",  // Ctrl
           "\xff",
           "\x80",
           "\xc0\xaf",  // not UTF-8
           "\xc2\x9b",
           "\xe2\x80\xae",  // C1, right-to-left
       }) {
    EXPECT_THAT(keys_of(bytes + "j"), ElementsAre(character("j"))) << bytes;
  }
}

TEST(Keys, GoesOnWithTheByteThatBreaksASequenceOff) {
  EXPECT_THAT(keys_of("\x1b[1\x1b[B"), ElementsAre(Key{Kind::down}));
  EXPECT_THAT(keys_of("\x1b[1\r"), ElementsAre(Key{Kind::enter}));
  EXPECT_THAT(keys_of("\x1b]0;x\x1b[B"), ElementsAre(Key{Kind::down}));
  EXPECT_THAT(keys_of("\xe2\x82q"), ElementsAre(character("q")));
}

TEST(Keys, IgnoresPastedText) {
  EXPECT_THAT(keys_of("a\x1b[200~quit\r\x1b[A\x1b[201~b"), ElementsAre(character("a"), character("b")));
  EXPECT_THAT(keys_of("\x1b[201~b"), ElementsAre(character("b")));
}

TEST(Keys, IgnoresPastedTextThatArrivesInPieces) {
  const std::string bytes = "\x1b[200~q\x1b[20\x1b[201q\x1b[201~b";
  KeyReader reader;
  std::vector<Key> keys;
  for (const char byte : bytes) {
    for (Key& key : reader.feed({&byte, 1})) keys.push_back(std::move(key));
    if (keys.empty() && byte == 'q') {
      EXPECT_FALSE(reader.is_unfinished());
    }
  }
  EXPECT_THAT(keys, ElementsAre(character("b")));
}

TEST(Keys, DoesNotKeepAnEndlessSequence) {
  KeyReader reader;
  EXPECT_THAT(reader.feed("\x1b[" + std::string(100'000, '1')), IsEmpty());
  EXPECT_THAT(reader.feed("\x1b[A"), ElementsAre(Key{Kind::up}));
}

TEST(Keys, DoesNotDependOnHowBytesArrive) {
  std::mt19937 random(7);
  const std::string alphabet = "\x1b\x1b\x1b[[O]12;~ABZq\r\t\xe2\x82\xac\xff\a\\";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (int i = 0; i < 30; ++i)
      bytes += random() % 12 == 0 ? "\x1b[200~" : std::string(1, alphabet[random() % alphabet.size()]);
    KeyReader whole;
    KeyReader pieces;
    const std::vector<Key> expected = whole.feed(bytes);
    std::vector<Key> keys;
    for (std::string_view rest = bytes; !rest.empty();) {
      const std::string_view piece = rest.substr(0, 1 + random() % 4);
      for (Key& key : pieces.feed(piece)) keys.push_back(std::move(key));
      rest.remove_prefix(piece.size());
    }
    ASSERT_EQ(keys, expected) << bytes;
    ASSERT_EQ(pieces.is_unfinished(), whole.is_unfinished()) << bytes;
  }
}

}  // namespace
}  // namespace podrun::top
