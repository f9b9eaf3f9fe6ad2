// SPDX-License-Identifier: Apache-2.0
// A Connector in front of another one: hands out links whose connections outlast them. What one run has
// pending ends with its link, as the fan-out expects; only the connection stays.
#include "podrun/link/kept_links.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace podrun::link {

namespace {

bool is_same(const hosts::Host& a, const hosts::Host& b) {
  return std::tie(a.kind, a.name, a.user, a.port) == std::tie(b.kind, b.name, b.user, b.port);
}

}  // namespace

class KeptLinks::KeptLink final : public Link {
 public:
  KeptLink(KeptLinks& keeper, const hosts::Host& host, std::unique_ptr<Link> kept)
      : keeper_(keeper),
        keeper_lives_(keeper.lender_),
        host_(host),
        is_kept_(kept != nullptr),
        link_(kept ? std::move(kept) : keeper.connector_.link(host)) {}
  KeptLink(const KeptLink&) = delete;
  KeptLink& operator=(const KeptLink&) = delete;
  ~KeptLink() override { stop({.cause = Cause::abandoned}); }

  asio::awaitable<void> open() override {
    if (stopped_) throw HostError(*stopped_);
    if (is_kept_ && link_->is_connected()) co_return;
    if (is_kept_) connect_again();
    ++waiting_;
    co_await link_->open();
    --waiting_;
  }

  asio::awaitable<std::shared_ptr<Stream>> exec(Program program) override {
    if (stopped_) throw HostError(*stopped_);
    ++waiting_;
    std::shared_ptr<Stream> stream;
    if (is_kept_) stream = co_await try_kept(program);
    if (!stream) stream = co_await link_->exec(std::move(program));
    --waiting_;
    is_kept_ = false;
    std::erase_if(streams_, [](const auto& each) { return each.expired(); });
    streams_.push_back(stream);
    co_return stream;
  }

  asio::awaitable<std::shared_ptr<Stream>> forward(std::uint16_t port) override {
    if (stopped_) throw HostError(*stopped_);
    ++waiting_;
    std::shared_ptr<Stream> stream;
    try {
      stream = co_await link_->forward(port);
    } catch (const HostError&) {  // most often only this port
      --waiting_;
      throw;
    }
    --waiting_;
    streams_.push_back(stream);
    co_return stream;
  }

  void stop(Failure failure) override {
    if (std::exchange(stopped_, failure)) return;
    for (const std::weak_ptr<Stream>& each : streams_) {
      if (const auto stream = each.lock()) stream->stop(failure);
    }
    const bool is_suspect = failure.cause == Cause::timed_out;
    if (waiting_ > 0 || is_suspect || !link_->is_connected()) {
      link_->stop(std::move(failure));
      return;
    }
    own_address_ = link_->own_address();
    mixes_statuses_ = link_->mixes_statuses();
    keeper_.keep(host_, std::move(link_));
  }

  bool is_connected() const override { return link_ && link_->is_connected(); }
  std::string own_address() const override { return link_ ? link_->own_address() : own_address_; }
  std::string host_address() const override { return link_ ? link_->host_address() : ""; }
  bool mixes_statuses() const override { return link_ ? link_->mixes_statuses() : mixes_statuses_; }

 private:
  void connect_again() {
    is_kept_ = false;
    link_ = keeper_.connector_.link(host_);
  }

  /// The first program on a kept connection. Null: there is a new connection instead, since only this program
  /// showed that the kept one has ended. Nothing of the program has been sent by then.
  asio::awaitable<std::shared_ptr<Stream>> try_kept(Program program) {
    try {
      co_return co_await link_->exec(std::move(program));
    } catch (const HostError&) {
      if (stopped_) throw;
    }
    connect_again();
    co_await link_->open();
    co_return nullptr;
  }

  KeptLinks& keeper_;
  const Borrowed keeper_lives_;
  const hosts::Host host_;
  bool is_kept_;  ///< the connection is that of an earlier run, which it has not answered in yet
  std::unique_ptr<Link> link_;  ///< null: given back
  std::size_t waiting_ = 0;     ///< calls that have no answer, or have failed
  std::vector<std::weak_ptr<Stream>> streams_;
  std::optional<Failure> stopped_;
  std::string own_address_;  ///< remembered from the link that was given back
  bool mixes_statuses_ = false;
};

std::unique_ptr<Link> KeptLinks::link(const hosts::Host& host) {
  return std::make_unique<KeptLink>(*this, host, take(host));
}

void KeptLinks::keep(const hosts::Host& host, std::unique_ptr<Link> link) {
  expect(link != nullptr, "a link is given back once");
  idle_.push_back({host, std::move(link)});
}

std::unique_ptr<Link> KeptLinks::take(const hosts::Host& host) {
  std::erase_if(idle_, [](const Idle& idle) { return !idle.link->is_connected(); });
  const auto found =
      std::find_if(idle_.begin(), idle_.end(), [&](const Idle& idle) { return is_same(idle.host, host); });
  if (found == idle_.end()) return nullptr;
  std::unique_ptr<Link> link = std::move(found->link);
  idle_.erase(found);
  return link;
}

}  // namespace podrun::link
