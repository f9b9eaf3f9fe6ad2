// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/steady_timer.hpp>

#include "podrun/link/failure.hpp"
#include "podrun/supervisor/supervised.hpp"
#include "podrun/transfer/archive.hpp"
#include "podrun/transfer/host_waits.hpp"
#include "podrun/transfer/push_talk.hpp"
#include "podrun/transfer/spread/peer_address.hpp"
#include "podrun/transfer/spread/spread_plan.hpp"
#include "podrun/transfer/spread/spread_watch.hpp"

// All that a push sees of this folder.
namespace podrun::transfer {

/// Whether hosts hand the files of a push on to each other.
enum class Spreading : std::uint8_t { impossible, possible, wanted };

struct SpreadRequest {
  Spreading spreading = Spreading::impossible;
  /// An index into the hosts: the one that has the files, and gets none.
  std::optional<std::size_t> source_host = std::nullopt;
  SpreadWatch::Limits limits = {};      ///< of hosts that hand files on
  std::vector<bool> behind_ports = {};  ///< hosts whose address in the list other hosts have too
};

/// How far a host is with its archive, and where it comes from.
struct SpreadShare {
  std::chrono::steady_clock::time_point began = {};  ///< when its first bytes were sent
  std::uint64_t sent = 0;                            ///< bytes of the archive so far
  std::uint64_t total = 0;                           ///< of the archive and the trailer; 0: not known yet
  bool is_spread = false;                            ///< it was asked to take part
  Reached reached = {};                              ///< where podrun reaches it
  std::optional<std::size_t> parent = std::nullopt;  ///< the host that serves it now
  SpreadSource source = {};                          ///< then: where the archive comes from
  std::string lost_because = {};                     ///< why it has no parent any more, or cannot have one
};

class SpreadGroup;

/// The hosts of a push that hand its files on to each other (--spread), or that get them from a host: in
/// groups with equal archives.
class Spread {
 public:
  /// `are_all_staged`: all hosts have everything. `waits` must outlive this.
  Spread(SpreadRequest request, std::size_t hosts, HostWaits& waits, std::function<bool()> are_all_staged);
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;

  /// Call this before each pass of the run.
  void begin_pass() { arrived_.assign(arrived_.size(), false); }
  /// Decides whether the host, which lacks the archive, is asked to take part.
  void invite(std::size_t host, const Archive& archive, SpreadShare& share);
  /// Call this when it is known that stage() will not serve the host: others are held back for it no longer.
  void arrive(std::size_t host);
  /// Whether stage() serves the host.
  bool serves(std::size_t host, const SpreadShare& share) const;
  /// Gives the host the archive and the trailer, after "stage … spread", or "stage … directly" if it is not
  /// asked to take part. The answer to that, once the digest of the archive is known. Throws HostError and
  /// LocalFileError.
  asio::awaitable<std::string> stage(PushTalk& talk, std::size_t host, std::shared_ptr<Archive> archive,
                                     DigestKind digest, std::string trailer, SpreadShare& share);
  /// On the host that has the files: serves one group after the other until all hosts have everything. Throws
  /// HostError.
  asio::awaitable<void> serve(supervisor::Supervised& supervised, SpreadShare& share);
  /// Call this when a host has everything, or has failed: the one that has the files may then be needed for
  /// another group, or not any more.
  void finish();
  /// Until it is cancelled or destroyed: stops a host that gives no answer.
  asio::steady_timer stop_later(const asio::any_io_executor& executor,
                                std::function<void(link::Failure)> stop) const;

 private:
  bool is_wanted(const Archive& archive) const;
  std::shared_ptr<SpreadGroup> group_of(const asio::any_io_executor& executor,
                                        const std::shared_ptr<Archive>& archive);
  std::vector<std::shared_ptr<SpreadGroup>> groups() const;
  std::shared_ptr<SpreadGroup> group_to_serve() const;
  void hold_back();

  const SpreadRequest request_;
  HostWaits& waits_;
  const std::function<bool()> are_all_staged_;
  std::vector<std::weak_ptr<SpreadGroup>> groups_ = {};
  std::vector<bool> was_silent_;  ///< hosts whose relay was: they get the files directly
  std::vector<bool> arrived_;     ///< hosts of which podrun knows in this pass what they need
  SpreadPlan::TimePoint last_arrival_{};
};

/// An archive of files that the host has which serve() is for.
std::shared_ptr<Archive> make_host_archive(const LocalTree& tree, std::vector<std::size_t> chosen);

/// Why podrun itself has sent the files, to stand after the name of the host; empty for the first host, and
/// for one that another host served. `worker`: the number of a host.
std::string why_from_here(const SpreadShare& share, const std::function<std::size_t(std::size_t)>& worker);

}  // namespace podrun::transfer
