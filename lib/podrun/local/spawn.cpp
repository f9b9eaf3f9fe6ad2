// SPDX-License-Identifier: Apache-2.0
#include "podrun/local/spawn.hpp"

#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

namespace podrun::local {
namespace {

/// The options of posix_spawn; frees them.
class SpawnOptions {
 public:
  explicit SpawnOptions(const Child& child) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawnattr_init(&attributes_);
    for (int target = 0; target < 3; ++target) {
      ::posix_spawn_file_actions_adddup2(&actions_, child.descriptors[static_cast<std::size_t>(target)],
                                         target);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, 3);
    if (!child.directory.empty()) ::posix_spawn_file_actions_addchdir_np(&actions_, child.directory.c_str());
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    const int session = child.new_session ? POSIX_SPAWN_SETSID : 0;
    ::posix_spawnattr_setflags(&attributes_,
                               static_cast<short>(session | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;
  ~SpawnOptions() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

Spawned spawn(const Child& child) {
  const SpawnOptions options(child);
  const std::vector<char*> arguments = pointers(child.arguments);
  const std::vector<char*> environment =
      child.environment ? pointers(*child.environment) : std::vector<char*>();
  Spawned spawned;
  spawned.error = ::posix_spawnp(&spawned.pid, arguments[0], options.actions(), options.attributes(),
                                 arguments.data(), child.environment ? environment.data() : ::environ);
  return spawned;
}

}  // namespace podrun::local
