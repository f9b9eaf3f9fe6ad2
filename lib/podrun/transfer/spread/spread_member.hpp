// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/transfer/spread/spread_group.hpp"

// The parts of the conversation with relays that the files of SpreadGroup share.
namespace podrun::transfer {

inline constexpr std::uint64_t kSpreadBlock = 1 << 20;  ///< of relay.py
inline constexpr std::size_t kSumSize = 32;             ///< SHA-256
inline constexpr std::size_t kLongestReason = 200;
/// Blocks whose sums are known before all hosts that are served have come near: 2 MiB of sums for 64 GiB. So
/// what a host says of its files takes no more memory than others have really got.
inline constexpr std::uint64_t kSumsAhead = 65536;

/// Throws HostError: a relay said this.
[[noreturn]] void refuse_answer(std::string_view answer);
/// A number that is a part of this answer. Throws HostError.
std::uint64_t number_in(std::string_view word, std::string_view answer);
/// A line with a size, and the program in so many bytes, in the format of zlib(3): for load_relay.sh.
Chunk packed(std::string_view program);

/// A host that gets the archive, or has the files of it.
struct SpreadGroup::Member {
  enum class Way { unknown, relay, direct };

  PushTalk& talk;
  const std::size_t host;
  const DigestKind digest;
  const std::string trailer;
  SpreadShare& share;
  Event changed;
  Way way = Way::unknown;  ///< what the archive is written to
  std::string address = {};
  std::string port = {};                             ///< of its last Listen
  std::string frames = {};                           ///< for its relay, that are not written
  std::uint64_t sums = 0;                            ///< that are written
  std::optional<std::size_t> parent = std::nullopt;  ///< the last one that it was told
  bool has_joined = false;                           ///< that one
  bool is_fed = false;
  std::optional<std::uint64_t> next = std::nullopt;  ///< the offset of the next data
  std::uint64_t allowed = 0;                         ///< where its relay wants data to end
  bool has_trailer = false;
  bool is_told = false;            ///< the plan knows it
  bool has_ended = false;          ///< nothing more is written
  bool may_listen = true;          ///< other hosts may connect to it
  bool is_leaving = false;         ///< the end of its input was written
  bool waits = false;              ///< for podrun, or for the host that has the files
  std::uint64_t written = 0;       ///< pieces of frames and data
  std::uint64_t served = 0;        ///< by the host that has the files: answers that were waited for
  std::string told_to_leave = {};  ///< why it was to leave its parent
  std::string failed = {};         ///< why its program ended, in the program's words
  std::string staged = {};         ///< the digest, once it has staged everything

  /// Waits for a change; returns false if nothing more is written.
  asio::awaitable<bool> wait();
};

}  // namespace podrun::transfer
