// SPDX-License-Identifier: Apache-2.0
// Compares shapes with a line, with backtracking. Only bytes and sets repeat, and only a limited number of
// times, so that no line takes long.
#include "podrun/output/log_key/shapes.hpp"

#include <algorithm>

#include "podrun/output/log_key/log_text.hpp"

namespace podrun::output {

/// One comparison, forwards (1) or backwards (-1) from a place.
template <int kStep>
class Shapes::Run {
 public:
  Run(const ShapeProgram& program, std::string_view line, const OwnNames& own, ShapeMatch& match)
      : ops_(program.ops.data()),
        sets_(program.sets.data()),
        line_(line),
        limit_(line.data() + (kStep > 0 ? line.size() : 0)),
        own_(own),
        match_(match) {}

  /// The place that the ops from `op` on reach; null: they do not match.
  const char* from(const ShapeOp* op, const char* at) {
    for (;; ++op) {
      needs(at);
      switch (op->code) {
        case ShapeOp::set: {
          const char* const begin = at;
          at = longest(*op, at);
          if ((at - begin) * kStep < op->min) return nullptr;
          if (op->value != 0) break;
          return fewer(op, begin + op->min * kStep, at);
        }
        case ShapeOp::split:
          if (!may_begin(op->max, at)) break;
          if (may_begin(op->min, at)) {
            const std::size_t count = match_.count;
            if (const char* const end = from(op + 1, at)) return end;
            match_.count = count;
          }
          op = ops_ + op->to - 1;
          break;
        case ShapeOp::unless:
        case ShapeOp::ahead:
          if ((may_begin(op->min, at) && from(op + 1, at) != nullptr) == (op->code == ShapeOp::unless))
            return nullptr;
          op = ops_ + op->to - 1;
          break;
        case ShapeOp::jump:
          op = ops_ + op->to - 1;
          break;
        case ShapeOp::open:
        case ShapeOp::close:
          mark(*op, offset(at));
          break;
        case ShapeOp::done:
          return at;
        default:
          if ((at = step(*op, at)) == nullptr) return nullptr;
      }
    }
  }

 private:
  static unsigned char next(const char* at) { return static_cast<unsigned char>(kStep > 0 ? *at : at[-1]); }
  static bool is_in_range(const ShapeOp& op, const char* digits) {
    const int value = (digits[0] - '0') * 10 + digits[1] - '0';
    return is_digit(digits[0]) && is_digit(digits[1]) && value >= op.min && value <= op.max;
  }
  std::size_t offset(const char* at) const { return static_cast<std::size_t>(at - line_.data()); }
  bool may_begin(std::size_t set, const char* at) const { return at == limit_ || sets_[set][next(at)]; }
  void needs(const char* at) {
    if constexpr (kStep > 0) match_.decided_by = std::max(match_.decided_by, offset(at) + 1);
  }

  const char* longest(const ShapeOp& op, const char* at) {
    const char* const most = (limit_ - at) * kStep > op.max ? at + op.max * kStep : limit_;
    const ByteSet& set = sets_[op.to];
    while (at != most && set[next(at)]) at += kStep;
    needs(at);
    return at;
  }

  void mark(const ShapeOp& op, std::size_t place) {
    LogField& field = op.value == LogField::tag ? match_.tag : match_.fields[match_.count];
    if (op.code == ShapeOp::open) {
      field.begin = place;
      return;
    }
    field.end = place;
    if (op.value == LogField::tag) return;
    field.kind = static_cast<LogField::Kind>(op.value);
    ++match_.count;
  }

  /// The place after one op without choices. Null: it does not match.
  const char* step(const ShapeOp& op, const char* at) {
    switch (op.code) {
      case ShapeOp::one:
        return at != limit_ && sets_[op.to][next(at)] ? at + kStep : nullptr;
      case ShapeOp::range:
        if ((limit_ - at) * kStep >= 2 && is_in_range(op, kStep > 0 ? at : at - 2)) return at + 2 * kStep;
        break;
      case ShapeOp::start:
        return at == line_.data() ? at : nullptr;
      case ShapeOp::end:
        if (offset(at) == line_.size()) return at;
        break;
      case ShapeOp::word:
        return begins_word(line_, offset(at)) ? at : nullptr;
      case ShapeOp::own: {
        needs(limit_);
        const std::size_t size = own_.find(line_, offset(at)).size();
        return size != 0 ? at + size : nullptr;
      }
      default:
        break;
    }
    needs(limit_);
    return nullptr;
  }

  /// Tries what follows a set that took bytes up to `most`, or fewer, but at least up to `least`.
  const char* fewer(const ShapeOp* op, const char* least, const char* most) {
    const std::size_t count = match_.count;
    for (const char* at = most;; at -= kStep) {
      match_.count = count;
      const char* const end = from(op + 1, at);
      if (end != nullptr || at == least) return end;
    }
  }

  const ShapeOp* const ops_;
  const ByteSet* const sets_;
  const std::string_view line_;
  const char* const limit_;
  const OwnNames& own_;
  ShapeMatch& match_;
};

bool Shapes::match(std::size_t row, std::string_view line, std::size_t at, const OwnNames& own,
                   ShapeMatch& match) const {
  match.count = 0;
  match.tag = {};
  const ShapeOp* const ops = program_.ops.data();
  const char* const place = line.data() + at;
  const char* const begin = Run<-1>(program_, line, own, match).from(ops + before_[row], place);
  if (begin == nullptr) return false;
  const char* const end = Run<1>(program_, line, own, match).from(ops + after_[row], place);
  if (end == nullptr) return false;
  match.begin = static_cast<std::size_t>(begin - line.data());
  match.end = static_cast<std::size_t>(end - line.data());
  return true;
}

std::uint64_t Shapes::candidates(std::size_t choice, std::string_view line, std::size_t at,
                                 ShapeMatch& match) {
  const char* const place = line.data() + at;
  const char* backwards = place;
  const std::uint64_t rows = index_[0].find<-1>(choice, choices_[choice], backwards, line.data());
  const char* const end = line.data() + line.size();
  const char* forwards = place;
  const std::uint64_t found = index_[1].find<1>(choice, rows, forwards, end);
  const auto needed = static_cast<std::size_t>(forwards - line.data()) + (forwards == end ? 1 : 0);
  match.decided_by = std::max(match.decided_by, needed);
  return found;
}

}  // namespace podrun::output
