/** Liveness of registers and the assignment of slots by linear scan: a warp's register file stays in the cache. */
#include <algorithm>
#include <climits>
#include "decoder.hpp"

namespace ptxsim {

namespace {

class BitRows {
 public:
  BitRows(size_t rows, size_t bits) : words_((bits + 63) / 64), data_(rows * words_) {}
  u64* row(size_t index) { return data_.data() + index * words_; }
  bool test(size_t index, u32 bit) { return row(index)[bit >> 6] >> (bit & 63) & 1; }
  void set(size_t index, u32 bit) { row(index)[bit >> 6] |= 1ull << (bit & 63); }
  size_t words() const { return words_; }

 private:
  size_t words_;
  std::vector<u64> data_;
};

class SlotAssigner {
 public:
  SlotAssigner(const std::vector<Instruction>& code, const std::vector<std::vector<u32>>& uses,
               const std::vector<std::vector<u32>>& defs, std::vector<VirtualRegister>& registers)
      : code_(code),
        uses_(uses),
        defs_(defs),
        registers_(registers),
        first_(registers.size(), INT_MAX),
        last_(registers.size(), -1) {}

  u32 run(u32 top) {
    splitBlocks();
    findRanges();
    return scan(top);
  }

 private:
  size_t blocks() const { return starts_.size() - 1; }

  void splitBlocks() {
    size_t n = code_.size();
    std::vector<bool> leads(n + 1, false);
    leads[0] = true;
    for (size_t i = 0; i < n; ++i) {
      if (code_[i].flow == Flow::Branch) leads[code_[i].target] = leads[i + 1] = true;
      if (code_[i].flow == Flow::Exit) leads[i + 1] = true;
    }
    blockOf_.resize(n + 1);
    for (size_t i = 0; i < n; ++i) {
      if (leads[i]) starts_.push_back(i);
      blockOf_[i] = starts_.size() - 1;
    }
    starts_.push_back(n);
  }

  std::vector<size_t> successors(size_t block) const {
    const Instruction& end = code_[starts_[block + 1] - 1];
    std::vector<size_t> next;
    if (end.flow == Flow::Branch) next.push_back(blockOf_[end.target]);
    bool falls = (end.flow != Flow::Branch && end.flow != Flow::Exit) || end.guard >= 0;
    if (falls && block + 1 < blocks()) next.push_back(block + 1);
    return next;
  }

  void findRanges() {
    size_t count = registers_.size();
    BitRows in(blocks(), count), out(blocks(), count), used(blocks(), count), killed(blocks(), count);
    for (size_t b = 0; b < blocks(); ++b) {
      for (size_t i = starts_[b]; i < starts_[b + 1]; ++i) {
        for (u32 r : uses_[i])
          if (!registers_[r].fixed && !killed.test(b, r)) used.set(b, r);
        // A guarded definition leaves the old value to some lanes, so it is a use as well.
        for (u32 r : defs_[i]) {
          if (code_[i].guard < 0) killed.set(b, r);
          else if (!killed.test(b, r)) used.set(b, r);
        }
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = blocks(); b-- > 0;) {
        for (size_t next : successors(b))
          for (size_t w = 0; w < in.words(); ++w) out.row(b)[w] |= in.row(next)[w];
        for (size_t w = 0; w < in.words(); ++w) {
          u64 value = used.row(b)[w] | (out.row(b)[w] & ~killed.row(b)[w]);
          if (value != in.row(b)[w]) in.row(b)[w] = value, changed = true;
        }
      }
    }
    for (size_t b = 0; b < blocks(); ++b) {
      touchRow(in, b, starts_[b]);
      touchRow(out, b, starts_[b + 1]);
      for (size_t i = starts_[b]; i < starts_[b + 1]; ++i) {
        for (u32 r : uses_[i]) touch(r, i);
        for (u32 r : defs_[i]) touch(r, i), touch(r, i + 1);
      }
    }
  }

  void touchRow(BitRows& rows, size_t block, size_t position) {
    for (size_t w = 0; w < rows.words(); ++w) {
      for (u64 bits = rows.row(block)[w]; bits; bits &= bits - 1)
        touch(static_cast<u32>(w * 64 + static_cast<u32>(__builtin_ctzll(bits))), position);
    }
  }

  void touch(u32 reg, size_t position) {
    first_[reg] = std::min(first_[reg], static_cast<int>(position));
    last_[reg] = std::max(last_[reg], static_cast<int>(position));
  }

  static u32 slotBytes(u32 width) { return width == 0 ? 64 : width * LANES; }

  u32 scan(u32 top) {
    std::vector<u32> order;
    for (u32 r = 0; r < registers_.size(); ++r)
      if (!registers_[r].fixed && last_[r] >= 0) order.push_back(r);
    std::sort(order.begin(), order.end(), [this](u32 a, u32 b) { return first_[a] < first_[b]; });
    std::vector<u32> active;
    std::map<u32, std::vector<u32>> free;
    for (u32 reg : order) {
      for (size_t k = 0; k < active.size();) {
        u32 other = active[k];
        if (last_[other] >= first_[reg]) {
          ++k;
          continue;
        }
        free[registers_[other].width].push_back(registers_[other].offset);
        active[k] = active.back();
        active.pop_back();
      }
      auto& slots = free[registers_[reg].width];
      if (slots.empty()) {
        registers_[reg].offset = top;
        top += slotBytes(registers_[reg].width);
      } else {
        registers_[reg].offset = slots.back();
        slots.pop_back();
      }
      active.push_back(reg);
    }
    // Registers nobody reads (`_`) share one place.
    for (u32 r = 0; r < registers_.size(); ++r)
      if (!registers_[r].fixed && last_[r] < 0) registers_[r].offset = top;
    return static_cast<u32>(alignUp(top + slotBytes(8), 64));
  }

  const std::vector<Instruction>& code_;
  const std::vector<std::vector<u32>>& uses_;
  const std::vector<std::vector<u32>>& defs_;
  std::vector<VirtualRegister>& registers_;
  std::vector<size_t> starts_, blockOf_;
  std::vector<int> first_, last_;
};

}  // namespace

u32 assignRegisterSlots(const std::vector<Instruction>& code, const std::vector<std::vector<u32>>& uses,
                        const std::vector<std::vector<u32>>& defs, std::vector<VirtualRegister>& registers,
                        u32 fixedBytes) {
  return SlotAssigner(code, uses, defs, registers).run(fixedBytes);
}

}  // namespace ptxsim
