// SPDX-License-Identifier: Apache-2.0
// One command under supervision on one host: the supervisor, and the helper programs for files, input and the
// processes that a command leaves.
#include "podrun/supervisor/supervised.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <initializer_list>
#include <system_error>
#include <utility>

#include <asio/co_spawn.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "podrun/base/text.hpp"
#include "podrun/link/link.hpp"
#include "podrun/supervisor/scripts.hpp"

namespace podrun::supervisor {
namespace {

bool is_success(const link::StreamEvent& event) {
  const auto* exited = std::get_if<link::Exited>(&event);
  return exited && exited->status == 0;
}

asio::awaitable<void> drop_noise(link::Received) { co_return; }

}  // namespace

/// The supervisor's standard input: lines in order, never waited for.
class Supervised::Control : public std::enable_shared_from_this<Control> {
 public:
  Control(const asio::any_io_executor& executor, std::shared_ptr<link::Stream> stream)
      : executor_(executor), stream_(std::move(stream)) {}
  /// Lines that are sent wait for the stream.
  explicit Control(const asio::any_io_executor& executor) : executor_(executor), writing_(true) {}

  void attach(std::shared_ptr<link::Stream> stream) {
    stream_ = std::move(stream);
    writing_ = false;
    if (closing_ || !pending_.empty()) start();
  }

  link::Stream& stream() { return *stream_; }
  bool idle() const { return !writing_; }

  void send(std::initializer_list<Chunk> texts) {
    pending_.insert(pending_.end(), texts);
    start();
  }
  void send(std::string line) { send({Chunk(std::move(line))}); }
  /// Ends standard input after the lines that were sent.
  void close() {
    closing_ = true;
    start();
  }

 private:
  void start() {
    if (std::exchange(writing_, true)) return;
    asio::co_spawn(executor_, write(shared_from_this()), [](const std::exception_ptr& error) {
      if (error) std::rethrow_exception(error);  // out of memory: nothing else is thrown
    });
  }
  static asio::awaitable<void> write(std::shared_ptr<Control> self) {
    bool open = true;
    while (open && !self->pending_.empty()) {
      const std::vector<Chunk> texts = std::exchange(self->pending_, {});
      std::vector<std::string_view> parts;
      for (const Chunk& text : texts) parts.push_back(text.bytes());
      open = co_await link::send_text(*self->stream_, std::move(parts));
    }
    if (self->closing_ || !open) self->stream_->close_write();
    self->writing_ = false;
  }

  asio::any_io_executor executor_;
  std::shared_ptr<link::Stream> stream_;
  std::vector<Chunk> pending_;
  bool writing_ = false;
  bool closing_ = false;
};

Supervised::Supervised(const asio::any_io_executor& executor, link::Link& link, Supervision supervision)
    : executor_(executor), link_(link), supervision_(std::move(supervision)), rest_over_(executor) {
  supervision_.suffix = random_id();
  if (link_.mixes_statuses()) supervision_.exit_status = ExitStatus::in_output;
}

Supervised::~Supervised() { stop({.cause = link::Cause::abandoned}); }

asio::awaitable<Hello> Supervised::prepare(const std::vector<RemoteFile>& files, Noise noise,
                                           std::string text) {
  preparing_.call("Supervised::prepare() is called once");
  expect(text.empty() || files.empty(), "a command that starts at once has no files");
  if (!files.empty()) supervision_.run_directory = RunDirectory::yes;
  const std::string nonce = random_id();
  link::Program program = supervisor_program(supervision_, nonce, text);
  if (supervision_.exit_status == ExitStatus::in_output) exit_line_.emplace(nonce);
  may_have_started_ = !text.empty();
  control_ = std::make_shared<Control>(executor_, co_await start(std::move(program)));
  Greeting greeting(control_->stream(), nonce, std::move(noise));
  Hello hello = co_await greeting.read(may_have_started_);
  greeted_ = true;
  if (auto failure = refusal(hello, supervision_)) {
    may_have_started_ = false;
    throw link::HostError(std::move(*failure));
  }
  early_ = greeting.rest();
  directory_ = hello.rest;
  for (const RemoteFile& file : files) co_await put(file);
  co_return hello;
}

/// After a refusal nothing runs. If the connection ends or the answer is late, the program may run.
asio::awaitable<std::shared_ptr<link::Stream>> Supervised::start(link::Program program) {
  try {
    co_return co_await link_.exec(std::move(program));
  } catch (const link::HostError& error) {
    if (error.failure().retry != link::Retry::may_help) may_have_started_ = false;
    throw;
  }
}

void Supervised::go(std::string_view of_host, const Chunk& of_all) {
  expect(greeted_ && !may_have_started_, "Supervised::go() comes after a prepare() without a text");
  going_.call("Supervised::go() is called once");
  control_->send({Chunk(fmt::format("go {}", of_host)), of_all, Chunk("\n")});
}

asio::awaitable<link::StreamEvent> Supervised::next() {
  expect(greeted_, "Supervised::next() comes after prepare()");
  if (!exit_line_) co_return co_await next_of_stream();
  for (;;) {
    if (following_) co_return *std::exchange(following_, std::nullopt);
    if (auto event = without_exit_line(co_await next_of_stream())) co_return std::move(*event);
  }
}

asio::awaitable<link::StreamEvent> Supervised::next_of_stream() {
  if (!early_.empty()) co_return link::Received{StreamId::out, std::exchange(early_, {})};
  link::StreamEvent event = co_await control_->stream().next();
  if (rest_ && std::holds_alternative<link::Closed>(event)) {
    rest_->close();
    co_await rest_over_.wait();
  }
  co_return event;
}

/// The event as the command's own: the exit line becomes Exited. If the transport command fails without that
/// line, its status counts. If it succeeds, the line may still come; without it the end is unknown. A second
/// line means that one of them is forged.
std::optional<link::StreamEvent> Supervised::without_exit_line(link::StreamEvent event) {
  if (auto* output = std::get_if<link::Received>(&event)) {
    if (output->stream == StreamId::out) output->bytes = exit_line_->feed(std::move(output->bytes));
    if (exit_line_->status() && !std::exchange(end_told_, true))
      following_ = link::Exited{*exit_line_->status()};
    if (exit_line_->is_repeated()) following_ = link::Failure{.cause = link::Cause::second_exit_status};
    if (output->bytes.empty()) return std::nullopt;
    return event;
  }
  if (std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event)) {
    if (std::holds_alternative<link::Closed>(event) && !end_told_)
      event = link::Failure{.cause = link::Cause::no_exit_status};
    Chunk rest = exit_line_->finish();
    if (rest.empty()) return event;
    following_ = std::move(event);
    return link::Received{StreamId::out, std::move(rest)};
  }
  if (is_success(event) || std::exchange(end_told_, true)) return std::nullopt;
  return event;
}

void Supervised::heartbeat() {
  if (greeted_ && control_->idle()) control_->send("\n");
  if (rest_ && rest_->idle()) rest_->send("\n");
}
void Supervised::suspend() {
  if (greeted_) control_->send("suspended\n");
  if (rest_) rest_->send("suspended\n");
}
Supervised::Control& Supervised::listener() {
  expect(control_ != nullptr, "a command can be signalled after prepare()");
  return rest_ ? *rest_ : *control_;
}
void Supervised::signal(std::string_view name) { listener().send(fmt::format("sig {}\n", name)); }
void Supervised::set_grace(std::chrono::seconds grace) {
  listener().send(fmt::format("grace {}\n", grace.count()));
}
void Supervised::stop_command() { listener().close(); }
void Supervised::stop(const link::Failure& failure) {
  if (control_) control_->stream().stop(failure);
  std::vector<std::weak_ptr<link::Stream>> others = helpers_;
  others.insert(others.end(), {holders_, rest_stream_});
  for (const std::weak_ptr<link::Stream>& each : others) {
    if (const auto stream = each.lock()) stream->stop(failure);
  }
  rest_over_.notify();
}

asio::awaitable<StartedProgram> Supervised::start_helper(Chunk script, std::vector<std::string> arguments,
                                                         Noise noise) {
  expect(greeted_, "a helper program starts after the supervisor's hello");
  const std::string nonce = random_id();
  arguments.insert(arguments.begin(), {nonce, supervision_.mark});
  link::Program program{std::move(script), std::move(arguments), supervision_.privilege};
  std::shared_ptr<link::Stream> stream = co_await link_.exec(std::move(program));
  std::erase_if(helpers_, [](const std::weak_ptr<link::Stream>& each) { return each.expired(); });
  helpers_.push_back(stream);
  Greeting greeting(*stream, nonce, std::move(noise));
  co_await greeting.read();
  co_return StartedProgram{std::move(stream), greeting.rest()};
}

asio::awaitable<StartedProgram> Supervised::start_program(Chunk script, std::vector<std::string> arguments) {
  co_return co_await start_helper(std::move(script), std::move(arguments), drop_noise);
}

asio::awaitable<std::shared_ptr<link::Stream>> Supervised::forward(std::uint16_t port) {
  expect(greeted_, "Supervised::forward() comes after prepare()");
  std::shared_ptr<link::Stream> stream = co_await link_.forward(port);
  helpers_.push_back(stream);
  co_return stream;
}

asio::awaitable<std::shared_ptr<link::Stream>> Supervised::open_input() {
  std::vector<std::string> arguments = FeederWords{.path = directory_ + "/podrun.in"}.list();
  StartedProgram feeder = co_await start_helper(feeder_script(), std::move(arguments), drop_noise);
  co_return feeder.stream;
}

asio::awaitable<void> Supervised::supervise_rest(Noise noise) {
  keeping_rest_.call("Supervised::supervise_rest() is called once");
  rest_ = std::make_shared<Control>(executor_);  // at once: signal() may follow
  return keep_rest(std::move(noise));
}

asio::awaitable<void> Supervised::keep_rest(Noise noise) {
  try {
    co_await run_rest(std::move(noise));
  } catch (const link::HostError&) {
    // the host starts no second supervisor
  }
  rest_over_.notify();
}

asio::awaitable<void> Supervised::run_rest(Noise noise) {
  Supervision rest = supervision_;
  rest.subject = Supervise::rest;
  rest.preparations.clear();
  rest.directory.clear();
  const std::string nonce = random_id();
  const std::shared_ptr<link::Stream> stream = co_await link_.exec(supervisor_program(rest, nonce));
  rest_stream_ = stream;
  Greeting greeting(*stream, nonce, drop_noise);
  co_await greeting.read();
  rest_->attach(stream);
  for (std::size_t said = 0;;) {
    link::StreamEvent event = co_await stream->next();
    if (auto* output = std::get_if<link::Received>(&event)) {
      said += output->bytes.size();
      if (said < kMaxSaid) co_await noise(std::move(*output));
    } else if (std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event)) {
      co_return;
    }
  }
}

asio::awaitable<Holders> Supervised::output_holders(bool& started) {
  const std::string nonce = random_id();
  const std::shared_ptr<link::Stream> stream = co_await link_.exec(holders_program(supervision_, nonce));
  holders_ = stream;
  started = true;
  Greeting greeting(*stream, nonce, drop_noise);
  co_await greeting.read();
  std::string text(greeting.rest().bytes());
  for (;;) {
    link::StreamEvent event = co_await stream->next();
    if (auto* output = std::get_if<link::Received>(&event)) {
      if (output->stream == StreamId::out && text.size() < kMaxSaid) text += output->bytes.bytes();
    } else if (std::holds_alternative<link::Closed>(event) || std::holds_alternative<link::Failure>(event)) {
      break;
    }
  }
  co_return parse_holders(text);
}

std::string random_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace podrun::supervisor
