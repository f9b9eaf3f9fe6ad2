// SPDX-License-Identifier: Apache-2.0
// Anything as the archives that a host sends to podrun pull: whatever comes, only paths that were asked for
// are made, each of the kind that was asked for, and nothing outside of the directory changes.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "podrun/link/failure.hpp"
#include "podrun/transfer/pull_unpack.hpp"

#include "support/listed_path.hpp"
#include "support/temp_directory.hpp"

namespace {

using podrun::test::listed_path;
using podrun::transfer::Kind;
using podrun::transfer::ListedPath;
using podrun::transfer::PulledDirectory;

constexpr std::uint64_t kMost = 100'000;
constexpr std::size_t kPiece = 1000;

void expect(bool condition) {
  if (!condition) std::abort();
}

/// Where a planted link may lead, and what must stay in it.
struct Place {
  podrun::test::TempDirectory temp;
  Place() {
    std::filesystem::create_directory(temp.path("outside"));
    temp.write("outside/kept", "kept");
  }
};

void check(const Place& place, const std::vector<ListedPath>& paths,
           const podrun::transfer::Unpacked& unpacked) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place.temp.path("out"))) {
    if (entry.is_symlink() || !entry.is_directory())
      found.insert(entry.path().lexically_relative(place.temp.path("out")));
  }
  found.erase("d");  // the planted link, unless d/b has taken its place
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string name(paths[i].path());
    if (i < unpacked.arrived.size() && unpacked.arrived[i]) expect(found.contains(name) || name == "link");
    found.erase(name);
  }
  expect(found.empty());
  expect(place.temp.read("outside/kept") == "kept");
  const std::filesystem::directory_iterator outside(place.temp.path("outside"));
  expect(std::distance(begin(outside), end(outside)) == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  static const std::vector<ListedPath> paths = {listed_path("a", 3), listed_path("d/b", 0),
                                                listed_path("link", 7, Kind::link), listed_path("link/c", 1),
                                                listed_path(std::string(150, 'n'), 1)};
  std::filesystem::remove_all(place.temp.path("out"));
  std::filesystem::create_directory(place.temp.path("out"));
  std::filesystem::create_directory_symlink(place.temp.path("outside"), place.temp.path("out/d"));
  std::vector<const ListedPath*> wanted;
  for (const ListedPath& path : paths) wanted.push_back(&path);
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto next = [&bytes] {
    const std::string_view piece = bytes.substr(0, kPiece);
    bytes.remove_prefix(piece.size());
    return piece;
  };
  podrun::transfer::Unpacked unpacked;
  try {
    PulledDirectory directory(place.temp.path("out"), PulledDirectory::Missing::make);
    unpack(next, wanted, kMost, directory, unpacked);
  } catch (const podrun::link::HostError&) {
  } catch (const podrun::transfer::LocalWriteError&) {  // link is a directory when the link comes late
  }
  check(place, paths, unpacked);
  return 0;
}
