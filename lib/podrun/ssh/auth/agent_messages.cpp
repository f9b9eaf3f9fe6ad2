// SPDX-License-Identifier: Apache-2.0
// Builds and reads the messages of ssh-agent, and exchanges them over its socket.
#include "podrun/ssh/auth/agent_messages.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <fmt/format.h>

#include "podrun/base/descriptor.hpp"
#include "podrun/base/error.hpp"
#include "podrun/base/text.hpp"
#include "podrun/ssh/host_keys/key_blob.hpp"

namespace podrun::ssh {
namespace {

enum MessageType : char { kFailure = 5, kRequestKeys = 11, kKeys = 12, kSignRequest = 13, kSignature = 14 };

constexpr std::size_t kMaxMessage = 256 * 1024;  // the limit of OpenSSH and libssh
constexpr std::chrono::milliseconds kPause{10};

void check(const std::error_code& error) {
  if (error == asio::error::eof) throw AgentError("it closed the connection");
  if (error) throw AgentError(error.message());
}

asio::awaitable<void> read_all(AgentSocket& socket, asio::mutable_buffer bytes) {
  std::error_code error;
  co_await asio::async_read(socket, bytes, asio::redirect_error(asio::use_awaitable, error));
  check(error);
}

}  // namespace

std::string agent_failure_message() { return {kFailure}; }
std::string agent_list_request() { return {kRequestKeys}; }
bool is_agent_list_request(std::string_view message) { return message.starts_with(kRequestKeys); }

std::optional<std::vector<AgentKey>> parse_agent_keys(std::string_view message) {
  WireReader reader(message);
  if (reader.byte() != kKeys) return std::nullopt;
  std::vector<AgentKey> keys;
  for (std::uint32_t left = reader.number(); left > 0 && reader.ok(); --left) {
    const std::string_view blob = reader.string();
    keys.push_back({std::string(blob), std::string(reader.string())});
  }
  if (!reader.complete()) return std::nullopt;
  return keys;
}

std::string agent_keys_message(const std::vector<AgentKey>& keys) {
  std::string message{kKeys};
  message += wire_number(static_cast<std::uint32_t>(keys.size()));
  for (const AgentKey& key : keys) message += wire_string(key.blob) + wire_string(key.comment);
  return message;
}

std::optional<AgentSignRequest> parse_agent_sign_request(std::string_view message) {
  WireReader reader(message);
  if (reader.byte() != kSignRequest) return std::nullopt;
  AgentSignRequest request;
  request.blob = reader.string();
  request.data = reader.string();
  request.flags = reader.number();
  if (!reader.complete()) return std::nullopt;
  return request;
}

std::string agent_sign_request_message(const AgentSignRequest& request) {
  std::string message{kSignRequest};
  message += wire_string(request.blob) + wire_string(request.data) + wire_number(request.flags);
  return message;
}

bool is_signature_message(std::string_view message) {
  WireReader reader(message);
  const bool says_so = reader.byte() == kSignature;
  WireReader signature(reader.string());
  const bool typed = !signature.string().empty();
  return says_so && typed && reader.complete();
}

asio::awaitable<std::string> read_agent_message(AgentSocket& socket) {
  std::array<char, 4> header{};
  co_await read_all(socket, asio::buffer(header));
  const std::size_t size = WireReader({header.data(), header.size()}).number();
  if (size == 0 || size > kMaxMessage) throw AgentError(fmt::format("it sent a message of {} bytes", size));
  std::string message(size, '\0');
  co_await read_all(socket, asio::buffer(message));
  co_return message;
}

asio::awaitable<void> write_agent_message(AgentSocket& socket, const std::string& message) {
  const std::string framed = wire_string(message);
  std::error_code error;
  co_await asio::async_write(socket, asio::buffer(framed), asio::redirect_error(asio::use_awaitable, error));
  check(error);
}

asio::awaitable<std::string> AgentQuestion::ask(const std::string& path, const std::string& message) {
  asking_.call("AgentQuestion::ask() is called once");
  const Borrowed self(lender_);
  co_await connect(path);
  if (closed_) throw AgentError("stopped");
  co_await write_agent_message(socket_, message);
  std::string answer = co_await read_agent_message(socket_);
  close();
  co_return answer;
}

void AgentQuestion::close() {
  closed_ = true;
  timer_.cancel();
  std::error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<void> AgentQuestion::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw AgentError("the name of its socket is too long");
  path.copy(static_cast<char*>(address.sun_path), path.size());
  int descriptor = -1;
  // Retry, because another login may soon release a descriptor.
  while ((descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) < 0) {
    if (!is_exhaustion(errno)) throw AgentError(errno_text());
    co_await pause();
    if (closed_) co_return;
  }
  check(adopt(socket_, descriptor, asio::local::stream_protocol()));
  while (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // asio's async_connect treats EAGAIN as success, but here it means that too many others are waiting.
    if (errno != EAGAIN) throw AgentError(errno_text());
    co_await pause();
    if (closed_) co_return;
  }
}

asio::awaitable<void> AgentQuestion::pause() {
  timer_.expires_after(kPause);
  std::error_code cancelled;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

}  // namespace podrun::ssh
