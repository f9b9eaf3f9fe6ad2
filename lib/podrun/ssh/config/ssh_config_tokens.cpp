// SPDX-License-Identifier: Apache-2.0
// Expands %-tokens, ~ and ${VARIABLE} in values of ssh_config(5).
#include "podrun/ssh/config/ssh_config_tokens.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/error.hpp"

namespace podrun::ssh {
namespace {

[[noreturn]] void refuse_token(std::string_view text, std::string_view token, std::string_view allowed) {
  std::string known;
  for (const char letter : allowed) known += fmt::format("%{} ", letter);
  throw UsageError(fmt::format("bad token \"{}\" in \"{}\" (expected {}or %%)", token, text, known));
}

/// Others may have written the lists with these names, so special characters are refused, as in ssh.
void check_shell_word(const std::string& word) {
  const auto is_special = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || c == 0x7f ||
           std::string_view("'`\"$\\;&<>|(){}").find(c) != std::string_view::npos;
  };
  if (!word.starts_with('-') && std::none_of(word.begin(), word.end(), is_special)) return;
  throw UsageError(
      fmt::format("{:?} cannot be used in a command (expected a name without shell characters)", word));
}

}  // namespace

void check_tokens(std::string_view text, std::string_view allowed) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 2)) {
    const std::string_view token = text.substr(at, 2);
    if (token.size() < 2 || (token[1] != '%' && allowed.find(token[1]) == std::string_view::npos))
      refuse_token(text, token, allowed);
  }
}

TildePath split_tilde(std::string_view path, const ConfigWorld& world) {
  if (!path.starts_with('~')) return {{}, path};
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string user(path.substr(1, end - 1));
  TildePath result{world.home, path.substr(end)};
  if (!user.empty()) {
    auto home = world.home_of(user);
    if (!home) throw UsageError(fmt::format("there is no user \"{}\" (expected ~ or the ~ of a user)", user));
    result.home = *std::move(home);
  }
  result.rest.remove_prefix(std::min(result.rest.find_first_not_of('/'), result.rest.size()));
  if (!result.home.ends_with('/')) result.home += '/';
  return result;
}

std::string ConfigTokens::command(std::string_view text, std::string_view allowed) const {
  check_tokens(text, allowed);
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 2)) {
    if (std::string_view("hknr").find(text[at + 1]) != std::string_view::npos)
      check_shell_word(token(text[at + 1]));
  }
  return fill_in(text, allowed, Variables::kept);
}

std::string ConfigTokens::path(std::string_view text) const {
  check_tokens(text, kMostTokens);
  const TildePath path = split_tilde(text, world_);
  return path.home + fill_in(path.rest, kMostTokens, Variables::expanded);
}

std::string ConfigTokens::home_path(std::string_view text) const {
  const TildePath path = split_tilde(text, world_);
  return path.home + std::string(path.rest);
}

std::string ConfigTokens::fill_in(std::string_view text, std::string_view allowed,
                                  Variables variables) const {
  check_tokens(text, allowed);
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      result += token(text[++at]);
    } else if (variables == Variables::expanded && text.substr(at).starts_with("${")) {
      const std::size_t close = text.find('}', at);
      const std::string name(text.substr(at + 2, std::min(close, text.size()) - at - 2));
      if (close == std::string_view::npos || name.empty())
        throw UsageError(fmt::format("bad variable in \"{}\" (expected ${{NAME}})", text));
      const auto value = world_.env(name);
      if (!value) throw UsageError(fmt::format("\"${{{}}}\" is not set here (set it)", name));
      result += *value;
      at = close;
    } else {
      result += text[at];
    }
  }
  return result;
}

std::string ConfigTokens::token(char letter) const {
  if (letter == 'C') return connection_hash();
  if (letter == 'L') return world_.host_name.substr(0, world_.host_name.find('.'));
  if (letter == 'p') return std::to_string(host_.port);
  const std::array<std::pair<char, const std::string*>, 9> texts = {{{'d', &world_.home},
                                                                     {'h', &host_.host_name},
                                                                     {'i', &world_.user_id},
                                                                     {'j', &host_.proxy_jump},
                                                                     {'k', &host_.host_key_name},
                                                                     {'l', &world_.host_name},
                                                                     {'n', &host_.name},
                                                                     {'r', &host_.user},
                                                                     {'u', &world_.user}}};
  for (const auto& [known, text] : texts) {
    if (letter == known) return *text;
  }
  return "%";
}

std::string ConfigTokens::connection_hash() const {
  const std::string text = fmt::format("{}{}{}{}", world_.host_name, host_.host_name, host_.port, host_.user);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-1");
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

}  // namespace podrun::ssh
