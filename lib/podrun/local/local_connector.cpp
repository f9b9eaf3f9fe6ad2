// SPDX-License-Identifier: Apache-2.0
#include "podrun/link/shell_line.hpp"
#include "podrun/local/connectors.hpp"

namespace podrun::local {
namespace {

class LocalLink : public link::Link {
 public:
  LocalLink(const asio::any_io_executor& executor, const ProcessOptions& child)
      : executor_(executor), child_(child) {}

  asio::awaitable<void> open() override { co_return; }
  void stop(link::Failure failure) override {
    if (const auto stream = starting_.lock()) stream->stop(std::move(failure));
  }

  asio::awaitable<std::shared_ptr<link::Stream>> exec(link::Program program) override {
    ProcessOptions options = child_;
    if (program.privilege == link::Privilege::root) options.arguments = {"sudo", "-n"};
    options.arguments.emplace_back("/bin/sh");
    std::shared_ptr<link::Stream> stream = spawn_process(executor_, std::move(options));
    starting_ = stream;
    co_await link::send_program(*stream, program);
    co_return stream;
  }

 private:
  asio::any_io_executor executor_;
  const ProcessOptions& child_;           // owned by the connector
  std::weak_ptr<link::Stream> starting_;  // may hang while it reads its program
};

class LocalConnector : public link::Connector {
 public:
  LocalConnector(const asio::any_io_executor& executor, ProcessOptions child)
      : executor_(executor), child_(std::move(child)) {}

  std::unique_ptr<link::Link> link(const hosts::Host&) override {
    return std::make_unique<LocalLink>(executor_, child_);
  }

 private:
  asio::any_io_executor executor_;
  ProcessOptions child_;
};

}  // namespace

std::unique_ptr<link::Connector> make_local_connector(const asio::any_io_executor& executor,
                                                      ProcessOptions child) {
  return std::make_unique<LocalConnector>(executor, std::move(child));
}

}  // namespace podrun::local
