// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <asio/awaitable.hpp>

#include "podrun/link/link.hpp"

namespace podrun::top {

/// Calls of gRPC over a stream: HTTP/2 without TLS (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
class GrpcConnection {
 public:
  explicit GrpcConnection(std::shared_ptr<link::Stream> stream);
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;
  ~GrpcConnection();

  /// Sends all messages to this method at once. The replies in the same order, at most 64 KiB each; none for
  /// a call that the server refuses. Throws HostError when the connection ends.
  asio::awaitable<std::vector<std::optional<std::string>>> call(std::string path,
                                                                std::vector<std::string> messages);
  /// Ends a pending call, which throws.
  void stop();

 private:
  class Http2;
  std::unique_ptr<Http2> http2_;
  std::shared_ptr<link::Stream> stream_;
};

}  // namespace podrun::top
