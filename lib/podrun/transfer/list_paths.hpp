// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/listing.hpp"

// The paths that words name on a host, for a pull, and for a push of files that a host has.
namespace podrun::transfer {

struct ListRequest {
  std::vector<std::string> words;  ///< in the form of pull_word()
  std::size_t max_files = PathBudget::kUsualPaths;
  Links links = Links::not_listed;
};

struct ListedPaths {
  Listing listing = {};
  std::string complaints = {};  ///< of the programs that listed
};

/// Lists them. Throws HostError.
asio::awaitable<ListedPaths> list_paths(supervisor::Supervised& supervised, ListRequest request);

/// Throws HostError if one of the words names nothing there, or something could not be listed. `words`: as
/// the user wrote them.
void check_complete(const ListedPaths& listed, const std::vector<std::string>& words);

/// Throws HostError for a path that no word asks for: where the directory is not this host's alone, it must
/// not choose the names, not `.bashrc` for `*.log`. `words`: in the form of pull_word(); one that ends with a
/// slash asks for any name. May be slow.
void check_names(const Listing& listing, const std::vector<std::string>& words);

/// `tar: ./a: Cannot open: Permission denied` without the beginning.
std::string_view without_program(std::string_view line);

}  // namespace podrun::transfer
