// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "podrun/transfer/digest.hpp"

namespace podrun::transfer {

/// A path of a host, and its attributes. The texts are only valid during the call that gets it.
struct HostEntry {
  std::string_view path;  ///< below the target; empty: the target itself
  std::string_view link_target = {};
  std::uint64_t size = 0;  ///< bytes
  std::int64_t mtime = 0;  ///< seconds since 1970
  std::uint32_t mode = 0;  ///< permission bits
  char kind = '?';         ///< f, d, l as in find(1); anything else is not copied
};

/// The target, as push.sh describes it before the list.
struct ScanHeader {
  bool exists = false;   ///< the target is a directory; otherwise it is missing
  bool is_name = false;  ///< the word of the command line is the new name of the single file
  DigestKind digest = DigestKind::sha256;
  std::vector<std::string> digest_words = {};        ///< of the program that computes it there
  std::string inode;                                 ///< of the directory beside or in which the host stages
  std::optional<std::uint64_t> room = std::nullopt;  ///< bytes that are free there
};

/// Reads the first answer of push.sh as it arrives: the header, the list (from GNU find, or from stat where
/// find cannot print; maybe compressed by gzip(1)), and its end. Throws HostError for anything else.
class ScanReply {
 public:
  using Take = std::function<void(const HostEntry&)>;

  explicit ScanReply(Take take);
  ~ScanReply();
  ScanReply(const ScanReply&) = delete;
  ScanReply& operator=(const ScanReply&) = delete;

  void feed(std::string_view bytes);
  bool is_complete() const { return state_ == State::complete; }
  /// Known before the first entry is taken.
  const ScanHeader& header() const { return header_; }
  /// The output after the reply.
  std::string take_rest() { return std::move(line_); }

 private:
  enum class State { header, list, end, complete };
  class Inflate;

  void read_header(std::string_view line);
  std::size_t feed_list(std::string_view bytes);
  std::size_t take_records(std::string_view bytes);
  bool take_record();
  void take_gnu();
  bool take_stat();
  void take_link();

  Take take_;
  State state_ = State::header;
  ScanHeader header_;
  bool by_stat_ = false;  ///< the format of records; false again for the links at the end
  bool only_links_ = false;
  bool list_ended_ = false;
  std::unique_ptr<Inflate> inflate_;
  std::string line_;                     ///< of the header or the end
  std::string record_;                   ///< the part that has arrived
  std::size_t nul_ = std::string::npos;  ///< the first NUL in it
};

/// Takes a line from the front of a host's output, without its newline; none if it is incomplete. Throws
/// HostError if it is an error or too long.
std::optional<std::string> take_answer(std::string& output);

}  // namespace podrun::transfer
