/* What the glue of listed methods keeps: words, texts and names of types, in memory of its own. */
#ifndef INTERLAP_OWN_HPP
#define INTERLAP_OWN_HPP

#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

/* Of what is called once, when the target is loaded: it need not be fast, but compiled fast. */
#define INTERLAP_ONCE __attribute__((cold, no_sanitize("thread")))
/* Of what is no step of the structure's, so without the engine's hooks. */
#define INTERLAP_OWN __attribute__((noinline, no_sanitize("thread")))

/* Memory that is none of the target's, where interlap runs it. */
extern "C" __attribute__((weak)) void *il_own_allocate(size_t size);
extern "C" __attribute__((weak)) void il_own_release(void *block);

namespace interlap {
namespace detail {

/* So that a block which the target has freed is not used again for an answer. */
inline void *own_allocate(size_t size) {
    void *block = il_own_allocate != nullptr ? il_own_allocate(size) : std::malloc(size);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
inline void own_release(void *block) {
    if (il_own_release != nullptr)
        il_own_release(block);
    else
        std::free(block);
}

/* Numbers or characters one after the other, in such memory. Standard containers would do, but a
   compiler takes longer for one of them than for all that is here. */
template <class T> class own_list {
  protected:
    T *all = nullptr;

  private:
    size_t count = 0, room = 0;

    INTERLAP_OWN void make_room(size_t wanted) {
        T *more = static_cast<T *>(own_allocate(wanted * sizeof(T)));
        for (size_t at = 0; at < count; at++) more[at] = all[at];
        if (all != nullptr) own_release(all);
        all = more, room = wanted;
    }

  public:
    own_list() = default;
    own_list(const own_list &) = delete;
    ~own_list() {
        if (all != nullptr) own_release(all);
    }
    INTERLAP_OWN void push_back(T one) {
        if (count == room) make_room(room == 0 ? 16 : 2 * room);
        all[count++] = one;
    }
    INTERLAP_OWN void append(const T *from, size_t more) {
        for (size_t at = 0; at < more; at++) push_back(from[at]);
    }
    void clear() { count = 0; }
    size_t size() const { return count; }
    T *data() const { return all; }
    T *begin() const { return all; }
    T *end() const { return all + count; }
};
using words = own_list<int64_t>;

/* How a type is called in signatures: `int`; with those of its parts `tuple<int, bool>`, which may
   have names: `record<x: int>`. */
struct type_name {
    const char *word;
    /* As many as there are, then none. */
    const type_name *const *parts;
    /* Names of the parts: "x, y". */
    const char *members;
};

/* What signatures and errors are put together in. */
struct text : own_list<char> {
    INTERLAP_ONCE text &operator<<(const char *more) {
        while (*more != 0) push_back(*more++);
        return *this;
    }
    INTERLAP_ONCE text &operator<<(size_t number) {
        if (number >= 10) *this << number / 10;
        push_back(static_cast<char>('0' + number % 10));
        return *this;
    }
    INTERLAP_ONCE text &operator<<(const type_name &of) {
        *this << of.word;
        if (of.parts == nullptr) return *this;
        *this << "<";
        const char *member = of.members;
        for (const type_name *const *part = of.parts; *part != nullptr; part++) {
            if (part != of.parts) *this << ", ";
            if (member != nullptr) {
                for (; *member != 0 && *member != ','; member++)
                    if (*member != ' ') push_back(*member);
                if (*member == ',') member++;
                *this << ": ";
            }
            *this << **part;
        }
        return *this << ">";
    }
    /* Its characters, for as long as the library lives. */
    INTERLAP_ONCE const char *kept() {
        push_back(0);
        return std::exchange(all, nullptr);
    }
};

} // namespace detail
} // namespace interlap

#endif
