// SPDX-License-Identifier: Apache-2.0
// A client of gRPC: nghttp2 has the protocol, and this moves its bytes through a stream.
#include "podrun/top/grpc_connection.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>
#include <variant>

#include "podrun/top/top_failures.hpp"

namespace podrun::top {
namespace {

constexpr std::size_t kMostOfReply = 64 * 1024;
constexpr std::size_t kPrefix = 5;  ///< of a message: compressed or not, and its length

/// A message with its prefix.
std::string framed(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string bytes(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(size >> shift & 0xffU);
  bytes += message;
  return bytes;
}

/// The one message of a reply; none if it is cut or compressed.
std::optional<std::string> unframed(std::string_view bytes) {
  if (bytes.size() < kPrefix || bytes[0] != 0) return std::nullopt;
  std::uint32_t size = 0;
  for (std::size_t i = 1; i < kPrefix; ++i) size = size << 8U | static_cast<unsigned char>(bytes[i]);
  if (bytes.size() < kPrefix + size) return std::nullopt;
  return std::string(bytes.substr(kPrefix, size));
}

nghttp2_nv header(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

/// The state of nghttp2, and what has come for each call.
class GrpcConnection::Http2 {
 public:
  Http2() {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_client_new(&http2_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(http2_, NGHTTP2_FLAG_NONE, nullptr, 0);
  }
  Http2(const Http2&) = delete;
  Http2& operator=(const Http2&) = delete;
  ~Http2() { nghttp2_session_del(http2_); }

  void begin(const std::string& path, const std::vector<std::string>& messages) {
    calls_.clear();
    order_.clear();
    for (const std::string& message : messages) {
      const std::array<nghttp2_nv, 7> headers = {
          header(":method", "POST"),     header(":scheme", "http"),
          header(":path", path),         header(":authority", "localhost"),
          header("te", "trailers"),      header("content-type", "application/grpc"),
          header("user-agent", "podrun")};
      auto body = std::make_unique<Body>(Body{framed(message)});
      const nghttp2_data_provider provider{.source = {.ptr = body.get()}, .read_callback = read_body};
      const std::int32_t id =
          nghttp2_submit_request(http2_, nullptr, headers.data(), headers.size(), &provider, nullptr);
      order_.push_back(id);
      if (id >= 0) calls_[id].body = std::move(body);
    }
  }
  bool is_complete() const {
    return std::ranges::all_of(calls_, [](const auto& call) { return call.second.is_over; });
  }
  std::vector<std::optional<std::string>> replies() const {
    std::vector<std::optional<std::string>> replies;
    for (const std::int32_t id : order_) {
      const auto call = calls_.find(id);
      replies.push_back(call != calls_.end() && call->second.is_ok ? unframed(call->second.reply)
                                                                   : std::nullopt);
    }
    return replies;
  }

  /// The bytes to send to the server; empty: there are none now.
  std::string take_output() {
    std::string bytes;
    for (;;) {
      const std::uint8_t* data = nullptr;
      const ssize_t size = nghttp2_session_mem_send(http2_, &data);
      if (size <= 0) return bytes;
      bytes.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
    }
  }
  /// False: the server does not speak HTTP/2.
  bool feed(std::string_view bytes) {
    return nghttp2_session_mem_recv(http2_, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                    bytes.size()) >= 0 &&
           nghttp2_session_want_read(http2_) != 0;
  }

 private:
  struct Body {
    std::string bytes;
    std::size_t sent = 0;
  };
  struct Call {
    std::unique_ptr<Body> body;
    std::string reply = {};
    bool is_ok = false;
    bool is_over = false;
  };

  static Http2& self(void* user) { return *static_cast<Http2*>(user); }

  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t length,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    Body& body = *static_cast<Body*>(source->ptr);
    const std::size_t size = std::min(length, body.bytes.size() - body.sent);
    std::memcpy(buffer, body.bytes.data() + body.sent, size);
    body.sent += size;
    if (body.sent == body.bytes.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* user) {
    const auto call = self(user).calls_.find(id);
    if (call == self(user).calls_.end()) return 0;
    std::string& reply = call->second.reply;
    if (reply.size() + size <= kMostOfReply) reply.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                       void* user) {
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    const auto call = self(user).calls_.find(frame->hd.stream_id);
    if (call != self(user).calls_.end() && key == "grpc-status") call->second.is_ok = text == "0";
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) {
    const auto call = self(user).calls_.find(id);
    if (call != self(user).calls_.end()) call->second.is_over = true;
    return 0;
  }

  nghttp2_session* http2_ = nullptr;
  std::map<std::int32_t, Call> calls_;
  std::vector<std::int32_t> order_;
};

GrpcConnection::GrpcConnection(std::shared_ptr<link::Stream> stream)
    : http2_(std::make_unique<Http2>()), stream_(std::move(stream)) {}

GrpcConnection::~GrpcConnection() { stop(); }

asio::awaitable<std::vector<std::optional<std::string>>> GrpcConnection::call(
    std::string path, std::vector<std::string> messages) {
  const link::Failure ended{kSampling, link::Cause::closed};
  http2_->begin(path, messages);
  while (!http2_->is_complete()) {
    if (std::string bytes = http2_->take_output(); !bytes.empty()) {
      Chunk chunk(std::move(bytes));
      if (!co_await stream_->write(std::move(chunk))) throw link::HostError(ended);
    }
    const link::StreamEvent event = co_await stream_->next();
    const auto* received = std::get_if<link::Received>(&event);
    if (!received) throw link::HostError(ended);
    if (received->stream == StreamId::out && !http2_->feed(received->bytes.bytes()))
      throw link::HostError(ended);
  }
  if (std::string bytes = http2_->take_output(); !bytes.empty()) {
    Chunk chunk(std::move(bytes));
    co_await stream_->write(std::move(chunk));
  }
  co_return http2_->replies();
}

void GrpcConnection::stop() { stream_->stop({.cause = link::Cause::abandoned}); }

}  // namespace podrun::top
