// SPDX-License-Identifier: Apache-2.0
// Any text is UsageError or words, and these words in single quotes are read back as they are.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "podrun/base/error.hpp"
#include "podrun/base/shell_quote.hpp"

namespace {

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "' ";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const std::vector<std::string> words = podrun::split_shell_words(std::string(data, data + size));
  std::string text;
  for (const std::string& word : words) text += quoted(word);
  if (podrun::split_shell_words(text) != words) std::abort();
  return 0;
} catch (const podrun::UsageError&) {
  return 0;
}
