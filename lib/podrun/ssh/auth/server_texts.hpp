// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

namespace podrun::ssh {

/// The texts of servers that keep a login waiting, such as an address to open or a push to confirm.
class ServerTexts {
 public:
  /// Calls this for each line, which may contain anything but a line end.
  void on_line(std::function<void(const std::string& host, const std::string& line)> tell) {
    tell_ = std::move(tell);
  }
  /// Tells each text once, however many hosts send it, and only so many.
  void tell(const std::string& host, const std::string& text);

 private:
  std::function<void(const std::string& host, const std::string& line)> tell_;
  std::set<std::string> told_;
};

/// Its lines in one, cut to a length that fits into a message.
std::string in_one_line(const std::string& text);

/// While it lives: tells the present text of a server every second, so a login that does not wait shows none.
class ServerTextWatch {
 public:
  ServerTextWatch(const asio::any_io_executor& executor, std::function<void()> tell);
  ServerTextWatch(const ServerTextWatch&) = delete;
  ServerTextWatch& operator=(const ServerTextWatch&) = delete;
  ~ServerTextWatch() = default;

 private:
  void arm();

  const std::function<void()> tell_;
  asio::steady_timer timer_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  ///< a handler may come after the end
};

}  // namespace podrun::ssh
