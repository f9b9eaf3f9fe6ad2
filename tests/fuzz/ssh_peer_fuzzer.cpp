// SPDX-License-Identifier: Apache-2.0
// Anything as what an SSH server sends before the login, in pieces of any size, and then no more: connect()
// comes to its end with a reason that can be shown, and closes its descriptor once. The first two bytes seed
// the split, the third is the number of pieces after which connect() is stopped.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include "podrun/report/outcome_words.hpp"
#include "podrun/ssh/config/algorithms.hpp"
#include "podrun/ssh/transport/transport.hpp"

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

auto open_descriptors() { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); }

/// The client's descriptor. When it has been closed its number is another file's at once, as where there are
/// many connections, and nobody may close that.
struct {
  int number = -1;
  unsigned closings = 0;
} watched;

/// The server's end of a connection.
class Peer {
 public:
  Peer() {
    expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_.data()) == 0);
    watched = {ends_[1], 0};
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    ::close(ends_[0]);
    ::close(std::exchange(watched.number, -1));  // the other file
  }

  int clients_end() const { return ends_[1]; }
  /// Takes what the client has said, and sends as much as the client lets it.
  std::size_t send(std::string_view bytes) const {
    drain();
    return static_cast<std::size_t>(
        std::max<ssize_t>(::send(ends_[0], bytes.data(), bytes.size(), MSG_NOSIGNAL), 0));
  }
  void finish() const {
    drain();
    ::shutdown(ends_[0], SHUT_WR);
  }

 private:
  void drain() const {
    std::array<char, 4096> buffer{};
    while (::recv(ends_[0], buffer.data(), buffer.size(), 0) > 0) {
    }
  }

  std::array<int, 2> ends_{};
};

asio::awaitable<void> connect(std::optional<podrun::ssh::Transport>& transport) {
  for (const auto option : {SSH_OPTIONS_CIPHERS_C_S, SSH_OPTIONS_CIPHERS_S_C})
    transport->set(option, std::string(podrun::ssh::kCiphers));
  for (const auto option : {SSH_OPTIONS_HMAC_C_S, SSH_OPTIONS_HMAC_S_C})
    transport->set(option, std::string(podrun::ssh::kMacs));
  transport->set(SSH_OPTIONS_KEY_EXCHANGE, std::string(podrun::ssh::kKexAlgorithms));
  transport->set(SSH_OPTIONS_HOSTKEYS, std::string(podrun::ssh::kHostKeyAlgorithms));
  co_await transport->connect();
}

void check(const podrun::link::Failure& failure) {
  constexpr std::size_t kLongest = 2000;
  const std::string text = podrun::report::describe(failure);
  expect(failure.stage != podrun::link::Stage::none && !podrun::report::reason(failure).empty() &&
         text.size() < kLongest);
  expect(std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }));
}

void run(asio::io_context& context) {
  context.restart();
  while (context.poll() > 0) {
  }
}

/// connect() to a server that sends these bytes.
void serve(std::string_view bytes, unsigned state, unsigned stop_after) {
  const Peer peer;
  asio::io_context context(1);
  std::optional<podrun::ssh::Transport> transport;
  transport.emplace(context.get_executor(), peer.clients_end());
  bool ended = false;
  asio::co_spawn(context, connect(transport), [&](const std::exception_ptr& error) {
    ended = true;
    try {
      if (error) std::rethrow_exception(error);
    } catch (const podrun::link::HostError& refused) {
      check(refused.failure());
    }
  });
  run(context);
  for (unsigned pieces = 0; !bytes.empty() && !ended; ++pieces) {
    if (pieces == stop_after)
      transport->stop({.stage = podrun::link::Stage::login, .cause = podrun::link::Cause::cancelled});
    state = state * 1103515245U + 12345U;
    const std::size_t most = std::size_t{1} << ((state >> 16U) % 12);
    const std::size_t sent = peer.send(bytes.substr(0, most));
    expect(sent > 0);  // it reads on
    bytes.remove_prefix(sent);
    run(context);
  }
  peer.finish();
  run(context);
  expect(ended);
  transport.reset();
  run(context);
}

}  // namespace

/// Replaces the close() that libssh and asio call.
extern "C" int close(int number) {
  if (number != watched.number) return static_cast<int>(::syscall(SYS_close, number));
  static const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ++watched.closings;
  return ::dup2(other, number) == number ? 0 : -1;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 3;
  if (size < kHead) return 0;
  (void)std::signal(SIGPIPE, SIG_IGN);               // as main does
  static const bool warm = (serve("", 0, 1), true);  // what is opened once
  expect(warm);
  const std::string bytes(data + kHead, data + size);
  const auto before = open_descriptors();
  serve(bytes, data[0] * 256U + data[1], data[2]);
  expect(watched.closings == 1);
  expect(open_descriptors() == before);
  return 0;
}
