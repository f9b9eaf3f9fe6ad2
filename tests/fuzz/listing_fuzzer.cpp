// SPDX-License-Identifier: Apache-2.0
// Anything as what a host lists for podrun pull, whole and in pieces: HostError, or paths below the host's
// directory, each once and none below a file.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "podrun/base/text.hpp"
#include "podrun/link/failure.hpp"
#include "podrun/transfer/listing.hpp"

#include "fuzz/pieces.hpp"

namespace {

using podrun::transfer::Kind;
using podrun::transfer::Links;
using podrun::transfer::ListedPath;
using podrun::transfer::Listing;

constexpr std::size_t kWords = 3;

void expect(bool condition) {
  if (!condition) std::abort();
}

struct Result {
  bool is_refused = false;
  bool has_links = false;
  bool is_complete = false;
  bool has_errors = false;
  std::size_t special = 0;
  std::vector<std::size_t> missing = {};
  std::vector<std::string> paths = {};  ///< of the host, a NUL, and what they are called here
  std::vector<Kind> kinds = {};

  friend bool operator==(const Result&, const Result&) = default;
};

Result read_listing(podrun::test::Pieces pieces, Links links) {
  using podrun::transfer::PathBudget;
  Result result{.has_links = links == Links::listed};
  try {
    podrun::transfer::ListingReader reader(kWords, PathBudget(PathBudget::kUsualPaths), links);
    while (!pieces.empty()) reader.feed(pieces.next());
    result.is_complete = reader.is_complete();
    const Listing listing = reader.take();
    result.has_errors = listing.has_errors;
    result.special = listing.special;
    result.missing = listing.missing;
    for (const ListedPath& path : listing.paths) {
      result.paths.push_back(path.host_path + '\0' + std::string(path.path()));
      result.kinds.push_back(path.kind);
    }
  } catch (const podrun::link::HostError&) {
    result = {.is_refused = true};
  }
  return result;
}

void check(const Result& result, std::string_view /*bytes*/) {
  expect(result.missing.size() <= kWords);
  for (const std::size_t word : result.missing) expect(word < kWords);
  std::string file;  // the last one, with a slash
  std::string before;
  for (std::size_t i = 0; i < result.paths.size(); ++i) {
    const std::size_t nul = result.paths[i].find('\0');
    const std::string host_path = result.paths[i].substr(0, nul);
    const std::string path = result.paths[i].substr(nul + 1);
    expect(host_path.starts_with("./") || host_path.starts_with('/'));
    if (path.empty()) {  // the directory whose contents are listed
      expect(i == 0 && result.kinds[i] == Kind::directory && result.has_links);
      continue;
    }
    expect(host_path.ends_with(path) && path != before);
    for (const std::string_view part : podrun::split(path, '/'))
      expect(!part.empty() && part != "." && part != "..");
    expect(file.empty() || !path.starts_with(file));
    if (result.kinds[i] != Kind::directory) file = path + '/';
    before = path;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const Links links : {Links::not_listed, Links::listed}) {
    podrun::test::read_whole_and_split(
        data, size, [links](podrun::test::Pieces pieces) { return read_listing(std::move(pieces), links); },
        check);
  }
  const std::string word(data, data + size);
  if (word.empty() || word.find('\0') != word.npos) return 0;
  const std::string made = podrun::transfer::pull_word(word);
  expect(made.starts_with("./") || made.starts_with('/'));
  expect(made.find("//") == made.npos && podrun::transfer::pull_word(made) == made);
  expect(!made.ends_with("/.."));
  return 0;
}
