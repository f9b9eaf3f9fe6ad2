// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace podrun::test {

/// A member of a tar archive, right or wrong. tar(5)
struct TarMember {
  std::string name;
  std::string content = {};
  char type = '0';
  std::string link = {};
  std::optional<std::uint64_t> size = std::nullopt;  ///< what the header says, else that of the content
};

inline std::string tar_blocks(std::string bytes) {
  constexpr std::size_t kBlock = 512;
  bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock);
  return bytes;
}

inline std::string tar_header(const TarMember& member) {
  constexpr std::size_t kName = 100;
  std::string header(512, '\0');
  const auto put = [&header](std::size_t at, std::string_view text) {
    header.replace(at, text.size(), text);
  };
  put(0, std::string_view(member.name).substr(0, kName));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", member.size.value_or(member.content.size())));
  put(136, "00000000000");
  put(148, "        ");
  put(156, std::string(1, member.type));
  put(157, std::string_view(member.link).substr(0, kName));
  put(257, "ustar  ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

/// As GNU tar writes it, with a member of its own before it for a long name.
inline std::string tar_text(const TarMember& member) {
  std::string text;
  if (member.name.size() > 100)
    text += tar_text({.name = "././@LongLink", .content = member.name + '\0', .type = 'L'});
  return text + tar_header(member) + tar_blocks(member.content);
}

inline std::string tar_end() { return std::string(1024, '\0'); }

}  // namespace podrun::test
