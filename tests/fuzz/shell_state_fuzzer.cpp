// SPDX-License-Identifier: Apache-2.0
// Anything as the output of a line of podrun shell: the same is found in it wherever it is cut, and the
// variables that a host reports have names that sh takes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "podrun/shell/line_state.hpp"

namespace {

constexpr std::size_t kMost = 4000;  // a longer line is output, as soon as it is known to be longer

void expect(bool condition) {
  if (!condition) std::abort();
}

std::pair<std::string, std::optional<podrun::shell::KeptState>> read(std::string_view text,
                                                                     std::size_t step) {
  podrun::shell::StateFilter filter({"id"});
  std::string output;
  for (std::size_t at = 0; at < text.size(); at += step)
    output += filter.pass(0, podrun::Chunk(std::string(text.substr(at, step)))).bytes();
  output += filter.finish(0).bytes();
  return {output, filter.state_of(0)};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + std::min(size, kMost));
  const auto whole = read(text, kMost);
  expect(whole == read(text, 1) && whole == read(text, 7));
  expect(whole.first.size() <= text.size());
  if (text.find("~podrun1 id ") == text.npos) expect(whole.first == text && !whole.second);

  const auto state = podrun::shell::parse_kept_state(text);
  if (!state) return 0;
  expect(state->directory.starts_with('/'));
  expect(!podrun::shell::restore({}, *state).empty());
  for (const auto* const variables : {&state->variables, &state->plain}) {
    for (const auto& [name, value] : *variables)
      expect(name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") ==
             name.npos);
  }
  return 0;
}
