// SPDX-License-Identifier: Apache-2.0
// `podrun top` on a terminal: keys, frames and time change the screen, which is painted when there is
// something new and the terminal has taken the last one.
#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <utility>

#include <asio/posix/stream_descriptor.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <fmt/chrono.h>

#include "podrun/top/keys.hpp"
#include "podrun/top/sample_mode.hpp"
#include "podrun/top/screen.hpp"
#include "podrun/top/top_run.hpp"

namespace podrun::top {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBetweenPaintings{200};  ///< of frames; keys are answered at once
constexpr milliseconds kLook{100};              ///< for the size of the terminal, an Escape, a slow terminal
constexpr milliseconds kAtLeast{500};           ///< paints again, since ages grow

class ScreenMode final : public SampleMode, private session::RunWatch {
 public:
  ScreenMode(const session::RunSpec& run, const SampleRequest& request, output::Charset charset,
             output::FullScreen& screen, Palette palette, SameHosts same_hosts)
      : SampleMode(run, request, charset),
        screen_(screen),
        display_{charset, palette},
        same_hosts_(std::move(same_hosts)) {
    state_.is_folded = run.plan.hosts.size() > kFewHosts;
  }

  session::RunWatch* watch() override { return this; }
  int status(const run::RunPolicy& policy) const override {
    return has_quit_ ? 0 : SampleMode::status(policy);
  }
  void print_final_report(output::Output& output, const run::RunPolicy& policy, int status) override {
    if (!has_quit_ && !policy.interrupted_by()) SampleMode::print_final_report(output, policy, status);
  }

 private:
  void changed(std::size_t /*host*/) override { is_new_ = true; }

  asio::awaitable<void> look(run::FanOut& fan_out, output::Output& output) override {
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    timer_.emplace(executor);
    keys_.emplace(executor, screen_.descriptor());
    is_over_ = false;
    is_shown_ = true;
    output.show(screen_.enter(), true);
    has_keys_ = true;  // they may have been typed before
    while (!is_over_) {
      read_keys(fan_out);
      paint(output);
      timer_->expires_after(kLook);
      std::error_code woken;
      co_await timer_->async_wait(asio::redirect_error(asio::use_awaitable, woken));
    }
    keys_->release();
    keys_.reset();
    output.show(screen_.leave(), false);
    is_shown_ = false;
  }
  void run_over() override {
    is_over_ = true;
    if (timer_) timer_->cancel();
  }
  void hide(output::Output& output) override {
    if (is_shown_) output.show(screen_.leave(), false);
  }
  void show(output::Output& output) override {
    if (!is_shown_) return;
    pod().resume(Clock::now());
    note_until_ = Clock::now() + sampling().interval();
    output.show(screen_.enter(), true);
    is_new_ = true;
  }

  void listen() {
    keys_->async_wait(asio::posix::stream_descriptor::wait_read, [this](const std::error_code& error) {
      if (error || is_over_) return;
      has_keys_ = true;
      timer_->cancel();
    });
  }

  void read_keys(run::FanOut& fan_out) {
    std::vector<Key> keys;
    if (has_keys_) {
      has_keys_ = false;
      const std::string bytes = screen_.read_keys();
      keys = reader_.feed(bytes);
      // Another program may have taken the bytes; a terminal that has gone would be readable forever.
      listens_later_ = bytes.empty();
      if (!listens_later_) listen();
    } else if (std::exchange(listens_later_, false)) {
      listen();
    } else if (reader_.is_unfinished()) {
      keys = reader_.flush();
    }
    for (const Key& key : keys) {
      const KeyEffect effect = handle_key(key, pod(), list_rows(pod(), state_), state_);
      if (effect.quits) {
        has_quit_ = true;
        fan_out.cancel();
      }
      change_interval(effect.interval_step);
      is_urgent_ = true;
    }
  }

  void change_interval(int step) {
    constexpr std::array<milliseconds, 7> kSteps = {
        milliseconds(1'000),  milliseconds(2'000),  milliseconds(5'000), milliseconds(10'000),
        milliseconds(20'000), milliseconds(30'000), milliseconds(60'000)};
    if (step == 0) return;
    std::optional<milliseconds> next;
    for (const milliseconds each : kSteps) {
      if (step > 0 && each > sampling().interval() && !next) next = each;
      if (step < 0 && each < sampling().interval()) next = each;
    }
    if (next) sampling().set_interval(*next);
  }

  void paint(output::Output& output) {
    const Clock::time_point now = Clock::now();
    const output::ScreenSize size = screen_.size();
    const auto since = now - painted_at_;
    const bool is_due =
        is_urgent_ || size != size_ || since >= kAtLeast || (is_new_ && since >= kBetweenPaintings);
    if (!is_due || !output.is_written()) return;
    if (is_new_ || since >= kAtLeast) judge();
    ScreenFacts facts{.now = now,
                      .clock = time_of_day(),
                      .interval = sampling().interval(),
                      .note = now < note_until_ ? "podrun was suspended" : "",
                      .same_hosts = same_hosts_};
    std::string bytes = screen_.paint(draw(pod(), state_, facts, size, display_), size);
    if (!bytes.empty()) output.show(std::move(bytes), true);
    painted_at_ = now;
    size_ = size;
    is_new_ = is_urgent_ = false;
  }

  static std::string time_of_day() {
    return fmt::format(
        "{:%H:%M:%S}",
        fmt::localtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  }

  output::FullScreen& screen_;
  const Display display_;
  const SameHosts same_hosts_;
  ScreenState state_ = {};
  KeyReader reader_ = {};
  std::optional<asio::steady_timer> timer_ = {};
  std::optional<asio::posix::stream_descriptor> keys_ = {};
  Clock::time_point painted_at_ = {};
  Clock::time_point note_until_ = {};
  output::ScreenSize size_ = {};
  bool has_keys_ = false;
  bool listens_later_ = false;
  bool has_quit_ = false;
  bool is_new_ = true;
  bool is_urgent_ = true;
  bool is_over_ = false;
  bool is_shown_ = false;
};

}  // namespace

int show_screen(session::Session& session, const session::RunSpec& run, const SampleRequest& request,
                output::FullScreen& screen, Palette palette, const SameHosts& same_hosts) {
  ScreenMode mode(run, request, session.charset(), screen, palette, same_hosts);
  return session.run(run, mode).status;
}

}  // namespace podrun::top
