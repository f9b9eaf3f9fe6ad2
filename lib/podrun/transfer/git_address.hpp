// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "podrun/transfer/git.hpp"

namespace podrun::transfer {

/// The address of a git repository, without the secrets that it may have.
struct GitAddress {
  std::string url;
  std::vector<std::string> options = {};    ///< of git, before its command
  std::vector<std::string> variables = {};  ///< of its environment
  std::vector<GitOption> configuration = {};
};

/// Takes user and password out of a URL of HTTP: git has the URL in command lines and files, and shows it.
/// A helper for credentials gives them to git from variables instead. Throws UsageError.
GitAddress make_git_address(const std::string& url, std::string_view where);

/// A URL for messages: without user, password, query and fragment.
std::string shown_url(const std::string& url);

}  // namespace podrun::transfer
