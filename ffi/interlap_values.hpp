/* The values that methods take and give, as words of 64 bits.
 *
 * A type is known where it has a `value_of`: how it is called in signatures, and how its values are
 * written and read. src/core/value.rs reads the same words.
 */
#ifndef INTERLAP_VALUES_HPP
#define INTERLAP_VALUES_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/* Memory that is none of the target's, where interlap runs it. */
extern "C" __attribute__((weak)) void *il_own_allocate(size_t size);
extern "C" __attribute__((weak)) void il_own_release(void *block);

namespace interlap {
namespace detail {

/* So that a block which the target has freed is not used again for an answer. */
template <class T> struct own_memory {
    using value_type = T;
    own_memory() = default;
    template <class U> own_memory(const own_memory<U> &) {}
    T *allocate(size_t count) {
        const size_t size = count * sizeof(T);
        void *block = il_own_allocate != nullptr ? il_own_allocate(size) : std::malloc(size);
        if (block == nullptr) throw std::bad_alloc();
        return static_cast<T *>(block);
    }
    void deallocate(T *block, size_t) {
        if (il_own_release != nullptr)
            il_own_release(block);
        else
            std::free(block);
    }
    template <class U> bool operator==(const own_memory<U> &) const { return true; }
    template <class U> bool operator!=(const own_memory<U> &) const { return false; }
};
template <class T> using own_vector = std::vector<T, own_memory<T>>;

/* How a type is written into words, and read from them: `text()` is its name in signatures. */
template <class T, class = void> struct value_of {
    static constexpr bool known = false;
};

/* The members of a struct, which INTERLAP_STRUCT lists. */
template <class T> struct members_of {
    static constexpr bool listed = false;
};

using words = own_vector<int64_t>;

template <class T> constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;
template <class T, class = void> struct underlying { using type = T; };
template <class T> struct underlying<T, std::enable_if_t<std::is_enum_v<T>>> {
    using type = std::underlying_type_t<T>;
};

template <class T> struct value_of<T, std::enable_if_t<is_number<T>>> {
    static constexpr bool known = true;
    static std::string text() {
        if (std::is_same_v<T, bool>) return "bool";
        using number = typename underlying<T>::type;
        return std::is_unsigned_v<number> && sizeof(T) == 8 ? "uint" : "int";
    }
    static void put(const T &value, words &to) { to.push_back(static_cast<int64_t>(value)); }
    static T take(const int64_t *&from) { return static_cast<T>(*from++); }
};

template <> struct value_of<std::string> {
    static constexpr bool known = true;
    static std::string text() { return "string"; }
    static void put(const std::string &value, words &to) {
        to.push_back(static_cast<int64_t>(value.size()));
        for (size_t at = 0; at < value.size(); at += 8) {
            uint64_t word = 0;
            for (size_t byte = 0; byte < 8 && at + byte < value.size(); byte++)
                word |= uint64_t(static_cast<unsigned char>(value[at + byte])) << (8 * byte);
            to.push_back(static_cast<int64_t>(word));
        }
    }
    static std::string take(const int64_t *&from) {
        std::string value(static_cast<size_t>(*from++), '\0');
        for (size_t at = 0; at < value.size(); at++)
            value[at] = static_cast<char>(static_cast<uint64_t>(from[at / 8]) >> (8 * (at % 8)));
        from += (value.size() + 7) / 8;
        return value;
    }
};

template <class T> struct value_of<std::optional<T>> {
    static constexpr bool known = value_of<T>::known;
    static std::string text() { return "optional<" + value_of<T>::text() + ">"; }
    static void put(const std::optional<T> &value, words &to) {
        to.push_back(value.has_value());
        if (value) value_of<T>::put(*value, to);
    }
    static std::optional<T> take(const int64_t *&from) {
        if (*from++ == 0) return std::nullopt;
        return value_of<T>::take(from);
    }
};

template <class... T> std::string texts_of() {
    std::string all;
    ((all += all.empty() ? value_of<T>::text() : ", " + value_of<T>::text()), ...);
    return all;
}

template <class... T> struct value_of<std::variant<T...>> {
    static constexpr bool known = (value_of<T>::known && ...);
    static std::string text() { return "variant<" + texts_of<T...>() + ">"; }
    static void put(const std::variant<T...> &value, words &to) {
        to.push_back(static_cast<int64_t>(value.index()));
        std::visit([&](const auto &of) { value_of<std::decay_t<decltype(of)>>::put(of, to); },
                   value);
    }
    static std::variant<T...> take(const int64_t *&from) {
        size_t index = static_cast<size_t>(*from++), at = 0;
        std::optional<std::variant<T...>> value;
        ((at++ == index ? void(value.emplace(value_of<T>::take(from))) : void()), ...);
        return *value;
    }
};

/* What std::get takes apart: pairs, tuples, arrays. */
template <class T> struct value_of<T, std::void_t<decltype(std::tuple_size<T>::value)>> {
    using all = std::make_index_sequence<std::tuple_size<T>::value>;
    template <size_t at> using part = value_of<std::decay_t<std::tuple_element_t<at, T>>>;
    template <size_t... at> static constexpr bool are_known(std::index_sequence<at...>) {
        return (part<at>::known && ...);
    }
    static constexpr bool known = are_known(all{});
    template <size_t... at> static std::string text(std::index_sequence<at...>) {
        return "tuple<" + texts_of<std::decay_t<std::tuple_element_t<at, T>>...>() + ">";
    }
    static std::string text() { return text(all{}); }
    template <size_t... at> static void put(const T &v, words &to, std::index_sequence<at...>) {
        (part<at>::put(std::get<at>(v), to), ...);
    }
    static void put(const T &value, words &to) { put(value, to, all{}); }
    template <size_t... at> static T take(const int64_t *&from, std::index_sequence<at...>) {
        return T{part<at>::take(from)...};
    }
    static T take(const int64_t *&from) { return take(from, all{}); }
};

/* Containers. */
template <class T, class = void> struct is_list : std::false_type {};
template <class T>
struct is_list<T, std::void_t<decltype(std::declval<T &>().push_back(
                      std::declval<typename T::value_type>()))>> : std::true_type {};
template <class T, class = void> struct has_keys : std::false_type {};
template <class T> struct has_keys<T, std::void_t<typename T::key_type>> : std::true_type {};
template <class T, class = void> struct has_mapped : std::false_type {};
template <class T> struct has_mapped<T, std::void_t<typename T::mapped_type>> : std::true_type {};

template <class T> struct value_of<T, std::enable_if_t<is_list<T>::value || has_keys<T>::value>> {
    /* Of a map without the const of its keys. */
    template <class E> struct plain { using type = E; };
    template <class K, class V> struct plain<std::pair<const K, V>> {
        using type = std::pair<K, V>;
    };
    using element = typename plain<typename T::value_type>::type;
    static constexpr bool known = value_of<element>::known;

    static std::string text() {
        if constexpr (has_mapped<T>::value)
            return "map<" + texts_of<typename T::key_type, typename T::mapped_type>() + ">";
        else
            return (has_keys<T>::value ? "set<" : "list<") + value_of<element>::text() + ">";
    }
    /* Elements of sets and maps in the order of their words, whatever order they are kept in. */
    static void put(const T &value, words &to) {
        own_vector<words> elements;
        for (const auto &one : value) {
            elements.emplace_back();
            value_of<element>::put(element(one), elements.back());
        }
        if (has_keys<T>::value) std::sort(elements.begin(), elements.end());
        to.push_back(static_cast<int64_t>(elements.size()));
        for (const words &one : elements) to.insert(to.end(), one.begin(), one.end());
    }
    static T take(const int64_t *&from) {
        T value;
        for (int64_t left = *from++; left > 0; left--) {
            if constexpr (has_keys<T>::value)
                value.insert(value_of<element>::take(from));
            else
                value.push_back(value_of<element>::take(from));
        }
        return value;
    }
};

template <class T> struct value_of<T, std::enable_if_t<members_of<T>::listed>> {
    using tied = decltype(members_of<T>::tie(std::declval<T &>()));
    using all = std::make_index_sequence<std::tuple_size<tied>::value>;
    template <size_t at> using part = value_of<std::decay_t<std::tuple_element_t<at, tied>>>;
    template <size_t... at> static constexpr bool are_known(std::index_sequence<at...>) {
        return (part<at>::known && ...);
    }
    static constexpr bool known = are_known(all{});
    template <size_t... at> static std::string text(std::index_sequence<at...>) {
        std::string members, names = members_of<T>::names();
        size_t from = 0;
        auto name = [&] {
            size_t end = std::min(names.find(',', from), names.size());
            std::string one = names.substr(from, end - from);
            one.erase(std::remove(one.begin(), one.end(), ' '), one.end());
            from = end + 1;
            return one;
        };
        ((members += (at > 0 ? ", " : "") + name() + ": " + part<at>::text()), ...);
        return "record<" + members + ">";
    }
    static std::string text() { return text(all{}); }
    template <size_t... at> static void put(T &v, words &to, std::index_sequence<at...>) {
        tied members = members_of<T>::tie(v);
        (part<at>::put(std::get<at>(members), to), ...);
    }
    static void put(const T &value, words &to) { put(const_cast<T &>(value), to, all{}); }
    template <size_t... at>
    static void take(T &v, const int64_t *&from, std::index_sequence<at...>) {
        tied members = members_of<T>::tie(v);
        ((std::get<at>(members) = part<at>::take(from)), ...);
    }
    static T take(const int64_t *&from) {
        T value{};
        take(value, from, all{});
        return value;
    }
};

} // namespace detail
} // namespace interlap

/* Does something with each of up to 32 names. */
#define INTERLAP_EACH_1(f, c, m) f(c, m)
#define INTERLAP_EACH_2(f, c, m, ...) f(c, m) INTERLAP_EACH_1(f, c, __VA_ARGS__)
#define INTERLAP_EACH_3(f, c, m, ...) f(c, m) INTERLAP_EACH_2(f, c, __VA_ARGS__)
#define INTERLAP_EACH_4(f, c, m, ...) f(c, m) INTERLAP_EACH_3(f, c, __VA_ARGS__)
#define INTERLAP_EACH_5(f, c, m, ...) f(c, m) INTERLAP_EACH_4(f, c, __VA_ARGS__)
#define INTERLAP_EACH_6(f, c, m, ...) f(c, m) INTERLAP_EACH_5(f, c, __VA_ARGS__)
#define INTERLAP_EACH_7(f, c, m, ...) f(c, m) INTERLAP_EACH_6(f, c, __VA_ARGS__)
#define INTERLAP_EACH_8(f, c, m, ...) f(c, m) INTERLAP_EACH_7(f, c, __VA_ARGS__)
#define INTERLAP_EACH_9(f, c, m, ...) f(c, m) INTERLAP_EACH_8(f, c, __VA_ARGS__)
#define INTERLAP_EACH_10(f, c, m, ...) f(c, m) INTERLAP_EACH_9(f, c, __VA_ARGS__)
#define INTERLAP_EACH_11(f, c, m, ...) f(c, m) INTERLAP_EACH_10(f, c, __VA_ARGS__)
#define INTERLAP_EACH_12(f, c, m, ...) f(c, m) INTERLAP_EACH_11(f, c, __VA_ARGS__)
#define INTERLAP_EACH_13(f, c, m, ...) f(c, m) INTERLAP_EACH_12(f, c, __VA_ARGS__)
#define INTERLAP_EACH_14(f, c, m, ...) f(c, m) INTERLAP_EACH_13(f, c, __VA_ARGS__)
#define INTERLAP_EACH_15(f, c, m, ...) f(c, m) INTERLAP_EACH_14(f, c, __VA_ARGS__)
#define INTERLAP_EACH_16(f, c, m, ...) f(c, m) INTERLAP_EACH_15(f, c, __VA_ARGS__)
#define INTERLAP_EACH_17(f, c, m, ...) f(c, m) INTERLAP_EACH_16(f, c, __VA_ARGS__)
#define INTERLAP_EACH_18(f, c, m, ...) f(c, m) INTERLAP_EACH_17(f, c, __VA_ARGS__)
#define INTERLAP_EACH_19(f, c, m, ...) f(c, m) INTERLAP_EACH_18(f, c, __VA_ARGS__)
#define INTERLAP_EACH_20(f, c, m, ...) f(c, m) INTERLAP_EACH_19(f, c, __VA_ARGS__)
#define INTERLAP_EACH_21(f, c, m, ...) f(c, m) INTERLAP_EACH_20(f, c, __VA_ARGS__)
#define INTERLAP_EACH_22(f, c, m, ...) f(c, m) INTERLAP_EACH_21(f, c, __VA_ARGS__)
#define INTERLAP_EACH_23(f, c, m, ...) f(c, m) INTERLAP_EACH_22(f, c, __VA_ARGS__)
#define INTERLAP_EACH_24(f, c, m, ...) f(c, m) INTERLAP_EACH_23(f, c, __VA_ARGS__)
#define INTERLAP_EACH_25(f, c, m, ...) f(c, m) INTERLAP_EACH_24(f, c, __VA_ARGS__)
#define INTERLAP_EACH_26(f, c, m, ...) f(c, m) INTERLAP_EACH_25(f, c, __VA_ARGS__)
#define INTERLAP_EACH_27(f, c, m, ...) f(c, m) INTERLAP_EACH_26(f, c, __VA_ARGS__)
#define INTERLAP_EACH_28(f, c, m, ...) f(c, m) INTERLAP_EACH_27(f, c, __VA_ARGS__)
#define INTERLAP_EACH_29(f, c, m, ...) f(c, m) INTERLAP_EACH_28(f, c, __VA_ARGS__)
#define INTERLAP_EACH_30(f, c, m, ...) f(c, m) INTERLAP_EACH_29(f, c, __VA_ARGS__)
#define INTERLAP_EACH_31(f, c, m, ...) f(c, m) INTERLAP_EACH_30(f, c, __VA_ARGS__)
#define INTERLAP_EACH_32(f, c, m, ...) f(c, m) INTERLAP_EACH_31(f, c, __VA_ARGS__)
#define INTERLAP_COUNT_OF(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10,                                 \
                          _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22,              \
                          _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, n, ...)                \
    n
#define INTERLAP_COUNT(...)                                                                        \
    INTERLAP_COUNT_OF(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,             \
                      19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define INTERLAP_JOINED_(a, b) a##b
#define INTERLAP_JOINED(a, b) INTERLAP_JOINED_(a, b)
#define INTERLAP_EACH(f, c, ...)                                                                   \
    INTERLAP_JOINED(INTERLAP_EACH_, INTERLAP_COUNT(__VA_ARGS__))(f, c, __VA_ARGS__)

/* A struct as an argument or a result: INTERLAP_STRUCT(Point, x, y), outside of any namespace. */
#define INTERLAP_MEMBER(of, member) std::tie(of.member),
#define INTERLAP_STRUCT(Type, ...)                                                                 \
    template <> struct interlap::detail::members_of<Type> {                                        \
        static constexpr bool listed = true;                                                       \
        static auto tie(Type &of) {                                                                \
            return std::tuple_cat(INTERLAP_EACH(INTERLAP_MEMBER, of, __VA_ARGS__) std::tuple<>()); \
        }                                                                                          \
        static const char *names() { return #__VA_ARGS__; }                                        \
    };

#endif
