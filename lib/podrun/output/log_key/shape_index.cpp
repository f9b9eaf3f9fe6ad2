// SPDX-License-Identifier: Apache-2.0
// Makes the states of a ShapeIndex, by the subset construction.
#include "podrun/output/log_key/shape_index.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {
namespace {

constexpr std::uint16_t kDone = 0xffff;
constexpr std::uint16_t kAtEnd = 0xfffe;
constexpr std::uint16_t kCounted = 16;  ///< longer repetitions have no limit here

}  // namespace

ShapeIndex::ShapeIndex(const ShapeProgram& program, const std::vector<std::size_t>& starts,
                       const std::vector<std::uint64_t>& choices)
    : program_(program) {
  classify();
  for (const std::uint64_t choice : choices) {
    Places places;
    for (std::size_t shape = 0; shape < starts.size(); ++shape) {
      if ((choice >> shape & 1) != 0) enter(places, starts[shape], shape);
    }
    starts_.push_back(state_of(std::move(places)));
  }
}

void ShapeIndex::classify() {
  std::map<std::vector<bool>, std::uint8_t> known;
  for (std::size_t byte = 0; byte < classes_.size(); ++byte) {
    std::vector<bool> uses = {is_digit(static_cast<char>(byte))};
    for (const ByteSet& set : program_.sets) uses.push_back(set[byte]);
    const auto [place, is_new] = known.emplace(std::move(uses), static_cast<std::uint8_t>(known.size()));
    classes_[byte] = place->second;
    if (is_new) samples_.push_back(static_cast<unsigned char>(byte));
  }
  if (samples_.size() > kClasses) throw std::logic_error("too many classes of bytes");
}

std::uint16_t ShapeIndex::state_of(Places places) {
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const auto [known, is_new] =
      states_.try_emplace(std::move(places), static_cast<std::uint16_t>(states_.size()));
  if (!is_new) return known->second;
  places_.push_back(&known->first);
  next_.resize(next_.size() + kClasses, kUnknown);
  Found& found = found_.emplace_back();
  for (const Place& place : known->first)
    (place.op == kDone    ? found.here
     : place.op == kAtEnd ? found.at_end
                          : found.later) |= std::uint64_t{1} << place.shape;
  if (found.here != 0 || found.later == 0) known->second |= kDecides;
  return known->second;
}

void ShapeIndex::enter(Places& places, std::size_t op, std::size_t shape) const {
  const ShapeOp& now = program_.ops[op];
  Place place{static_cast<std::uint16_t>(op), static_cast<std::uint8_t>(shape), 0};
  switch (now.code) {
    case ShapeOp::one:
    case ShapeOp::range:
    case ShapeOp::own:
      return places.push_back(place);
    case ShapeOp::ahead: {  // ignored, unless it ends the shape
      std::size_t next = now.to;
      while (program_.ops[next].code == ShapeOp::close) ++next;
      return enter(places, program_.ops[next].code == ShapeOp::done ? op + 1 : now.to, shape);
    }
    case ShapeOp::set:
      return enter_set(places, place);
    case ShapeOp::word:
      places.push_back(place);
      place.op = kAtEnd;
      return places.push_back(place);
    case ShapeOp::split:
      enter(places, op + 1, shape);
      return enter(places, now.to, shape);
    case ShapeOp::jump:
    case ShapeOp::unless:
      return enter(places, now.to, shape);
    case ShapeOp::start:
    case ShapeOp::end:
    case ShapeOp::done:
      place.op = now.code == ShapeOp::done ? kDone : kAtEnd;
      return places.push_back(place);
    default:
      return enter(places, op + 1, shape);
  }
}

void ShapeIndex::enter_set(Places& places, Place place) const {
  const ShapeOp& now = program_.ops[place.op];
  const bool is_counted = now.max <= kCounted;
  if (!is_counted) place.count = static_cast<std::uint8_t>(std::min<std::uint16_t>(place.count, now.min));
  if (!is_counted || place.count < now.max) places.push_back(place);
  if (place.count >= now.min) enter(places, place.op + 1U, place.shape);
}

std::uint16_t ShapeIndex::step(std::uint16_t state, std::uint8_t byte_class) {
  const unsigned char byte = samples_[byte_class];
  Places next;
  for (Place place : *places_[state]) {
    if (place.op >= kAtEnd) continue;
    const ShapeOp& now = program_.ops[place.op];
    const bool has_byte =
        now.code == ShapeOp::range ? is_digit(static_cast<char>(byte)) : program_.sets[now.to][byte];
    if (!has_byte) continue;
    ++place.count;
    if (now.code == ShapeOp::set) {
      enter_set(next, place);
    } else if (now.code == ShapeOp::word || (now.code == ShapeOp::range && place.count == 1)) {
      if (now.code == ShapeOp::word) place.op = kDone;
      next.push_back(place);
    } else {
      if (now.code == ShapeOp::own) next.push_back({place.op, place.shape, 0});
      enter(next, place.op + 1U, place.shape);
    }
  }
  const std::uint16_t made = state_of(std::move(next));
  next_[state * kClasses + byte_class] = made;
  return made;
}

}  // namespace podrun::output
