// SPDX-License-Identifier: Apache-2.0
// Asks a host for the paths that words name.
#include "podrun/transfer/list_paths.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "podrun/base/text.hpp"
#include "podrun/supervisor/program_reader.hpp"
#include "podrun/transfer/scripts.hpp"
#include "podrun/transfer/side_work.hpp"
#include "podrun/transfer/transfer_failures.hpp"

namespace podrun::transfer {
namespace {

using link::Cause;
using link::HostError;

constexpr std::size_t kShownWords = 3;

/// Why some paths could not be listed. Empty if they only vanished meanwhile, which is not a failure.
std::string_view complaint(std::string_view said) {
  if (said.empty()) return "not all of it can be listed";
  for (const std::string_view line : split(said, '\n')) {
    if (!line.empty() && !line.ends_with("No such file or directory")) return without_program(line);
  }
  return {};
}

}  // namespace

asio::awaitable<ListedPaths> list_paths(supervisor::Supervised& supervised, ListRequest request) {
  static const Chunk script{std::string(kPullListScript)};
  const char* const links = request.links == Links::listed ? "links" : "-";
  std::vector<std::string> words = PullListWords{.links = links, .paths = request.words}.list();
  supervisor::StartedProgram program = co_await supervised.start_program(script, std::move(words));
  supervisor::ProgramReader reader(std::move(program));
  ListingReader listing(request.words.size(), PathBudget(request.max_files), request.links);
  for (;;) {
    const std::optional<Chunk> output = co_await reader.read();
    if (!output) break;
    listing.feed(output->bytes());
  }
  if (!listing.is_complete()) throw HostError({kCopying, Cause::ended_early, reader.describe_end()});
  ListedPaths listed{.complaints = reader.said()};
  std::function<void()> sort = [&] { listed.listing = listing.take(); };
  co_await run_on_thread(std::move(sort));
  co_return listed;
}

void check_complete(const ListedPaths& listed, const std::vector<std::string>& words) {
  const Listing& listing = listed.listing;
  if (!listing.missing.empty()) {
    std::vector<std::string> shown;
    for (std::size_t i = 0; i < std::min(listing.missing.size(), kShownWords); ++i)
      shown.push_back(words[listing.missing[i]]);
    const std::size_t hidden = listing.missing.size() - shown.size();
    const std::string more = hidden > 0 ? fmt::format(" and {} more", hidden) : "";
    throw HostError({kCopying, Cause::file_missing,
                     fmt::format("{}{}: no such file or directory there", join(shown, ", "), more)});
  }
  if (!listing.has_errors) return;
  const std::string_view why =
      listing.has_not_looked ? last_line(listed.complaints) : complaint(listed.complaints);
  if (!why.empty() || listing.has_not_looked) throw HostError({kCopying, kNotCopied, std::string(why)});
}

void check_names(const Listing& listing, const std::vector<std::string>& words) {
  for (const ListedPath& path : listing.paths) {
    const std::string name(path.path().substr(0, path.path().find('/')));
    const bool is_asked_for = std::ranges::any_of(words, [&](const std::string& word) {
      const std::string last = word.substr(word.rfind('/') + 1);
      return last.empty() || last == name || ::fnmatch(last.c_str(), name.c_str(), FNM_PERIOD) == 0;
    });
    if (!is_asked_for) throw HostError({kCopying, Cause::unexpected_answer, path.host_path});
  }
}

std::string_view without_program(std::string_view line) {
  for (const std::string_view program : {"tar: ", "find: ", "stat: ", "./"}) {
    if (line.starts_with(program)) line.remove_prefix(program.size());
  }
  return line;
}

}  // namespace podrun::transfer
