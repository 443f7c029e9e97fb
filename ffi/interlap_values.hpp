/* The values that methods take and give, as words of 64 bits.
 *
 * A type is known where it has a `value_of`: how it is called in signatures, and how its values are
 * written and read. src/core/value.rs reads the same words.
 */
#ifndef INTERLAP_VALUES_HPP
#define INTERLAP_VALUES_HPP

#include "interlap_own.hpp"

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace interlap {
namespace detail {

/* How a type is written into words, and read from them: `name` is its name in signatures. */
template <class T, class = void> struct value_of {
    static constexpr bool known = false;
};
template <class... T> constexpr const type_name *names_of[] = {&value_of<T>::name..., nullptr};

/* The members of a struct, which INTERLAP_STRUCT lists. */
template <class T> struct members_of {
    static constexpr bool listed = false;
};

template <class T> constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;
template <class T, class = void> struct underlying { using type = T; };
template <class T> struct underlying<T, std::enable_if_t<std::is_enum_v<T>>> {
    using type = std::underlying_type_t<T>;
};

template <class T> struct value_of<T, std::enable_if_t<is_number<T>>> {
    static constexpr bool known = true;
    static constexpr bool is_unsigned = std::is_unsigned_v<typename underlying<T>::type>;
    static constexpr type_name name = {std::is_same_v<T, bool>       ? "bool"
                                       : is_unsigned && sizeof(T) == 8 ? "uint"
                                                                     : "int",
                                       nullptr, nullptr};
    static void put(const T &value, words &to) { to.push_back(static_cast<int64_t>(value)); }
    static T take(const int64_t *&from) { return static_cast<T>(*from++); }
};

INTERLAP_OWN inline void put_bytes(const char *bytes, size_t size, words &to) {
    to.push_back(static_cast<int64_t>(size));
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        for (size_t byte = 0; byte < 8 && at + byte < size; byte++)
            word |= uint64_t(static_cast<unsigned char>(bytes[at + byte])) << (8 * byte);
        to.push_back(static_cast<int64_t>(word));
    }
}
template <> struct value_of<std::string> {
    static constexpr bool known = true;
    static constexpr type_name name = {"string", nullptr, nullptr};
    static void put(const std::string &value, words &to) {
        put_bytes(value.data(), value.size(), to);
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
    static constexpr type_name name = {"optional", names_of<T>, nullptr};
    static void put(const std::optional<T> &value, words &to) {
        to.push_back(value.has_value());
        if (value) value_of<T>::put(*value, to);
    }
    static std::optional<T> take(const int64_t *&from) {
        if (*from++ == 0) return std::nullopt;
        return value_of<T>::take(from);
    }
};

template <class... T> struct value_of<std::variant<T...>> {
    static constexpr bool known = (value_of<T>::known && ...);
    static constexpr type_name name = {"variant", names_of<T...>, nullptr};
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
template <class T, class Places> struct value_of_parts;
template <class T, size_t... at> struct value_of_parts<T, std::index_sequence<at...>> {
    template <size_t n> using type = std::decay_t<std::tuple_element_t<n, T>>;
    static constexpr bool known = (value_of<type<at>>::known && ...);
    static constexpr type_name name = {"tuple", names_of<type<at>...>, nullptr};
    static void put(const T &value, words &to) {
        (value_of<type<at>>::put(std::get<at>(value), to), ...);
    }
    static T take(const int64_t *&from) { return T{value_of<type<at>>::take(from)...}; }
};
template <class T>
struct value_of<T, std::void_t<decltype(std::tuple_size<T>::value)>>
    : value_of_parts<T, std::make_index_sequence<std::tuple_size<T>::value>> {};

/* Containers. */
template <class T, class = void> struct is_list : std::false_type {};
template <class T>
struct is_list<T, std::void_t<decltype(std::declval<T &>().push_back(
                      std::declval<typename T::value_type>()))>> : std::true_type {};
template <class T, class = void> struct has_keys : std::false_type {};
template <class T> struct has_keys<T, std::void_t<typename T::key_type>> : std::true_type {};
template <class T, class = void> struct has_mapped : std::false_type {};
template <class T> struct has_mapped<T, std::void_t<typename T::mapped_type>> : std::true_type {};

/* An element of a container, as words. */
struct element_words {
    const int64_t *at, *end;
    bool operator<(const element_words &other) const {
        const int64_t *a = at, *b = other.at;
        while (a != end && b != other.end && *a == *b) a++, b++;
        return b != other.end && (a == end || *a < *b);
    }
};
/* Writes elements, which end so far behind the first word of all, in the order of their words. */
INTERLAP_OWN inline void put_in_order(const words &all, const own_list<size_t> &ends, words &to) {
    own_list<element_words> elements;
    const int64_t *from = all.begin();
    for (size_t end : ends) {
        elements.push_back({from, all.begin() + end});
        from = all.begin() + end;
    }
    element_words *const by = elements.begin();
    for (size_t gap = elements.size() / 2; gap > 0; gap /= 2)
        for (size_t next = gap; next < elements.size(); next++)
            for (size_t at = next; at >= gap && by[at] < by[at - gap]; at -= gap)
                std::swap(by[at], by[at - gap]);
    for (const element_words &one : elements)
        to.append(one.at, static_cast<size_t>(one.end - one.at));
}

template <class T> struct value_of<T, std::enable_if_t<is_list<T>::value || has_keys<T>::value>> {
    /* Of a map without the const of its keys. */
    template <class E> struct plain { using type = E; };
    template <class K, class V> struct plain<std::pair<const K, V>> {
        using type = std::pair<K, V>;
    };
    using element = typename plain<typename T::value_type>::type;
    static constexpr bool known = value_of<element>::known;
    static constexpr type_name name_of_this() {
        if constexpr (has_mapped<T>::value)
            return {"map", names_of<typename T::key_type, typename T::mapped_type>, nullptr};
        else
            return {has_keys<T>::value ? "set" : "list", names_of<element>, nullptr};
    }
    static constexpr type_name name = name_of_this();

    /* Elements of sets and maps in the order of their words, whatever order they are kept in. */
    static void put(const T &value, words &to) {
        words all;
        own_list<size_t> ends;
        for (const auto &one : value) {
            value_of<element>::put(element(one), all);
            ends.push_back(all.size());
        }
        to.push_back(static_cast<int64_t>(ends.size()));
        if constexpr (has_keys<T>::value)
            put_in_order(all, ends, to);
        else
            to.append(all.data(), all.size());
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

/* The types of members. */
template <class None, class... M> struct types_of {
    static constexpr bool known = (value_of<std::decay_t<M>>::known && ...);
    static constexpr auto &names = names_of<std::decay_t<M>...>;
};
template <class T> struct value_of<T, std::enable_if_t<members_of<T>::listed>> {
    using members = members_of<T>;
    static constexpr bool known = members::types::known;
    static constexpr type_name name = {"record", members::types::names, members::names};
    static void put(const T &value, words &to) {
        members::each(value, [&](const auto &member) {
            value_of<std::decay_t<decltype(member)>>::put(member, to);
        });
    }
    static T take(const int64_t *&from) {
        T value{};
        members::each(value, [&](auto &member) {
            member = value_of<std::decay_t<decltype(member)>>::take(from);
        });
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
#define INTERLAP_MEMBER(of, member) each_one(of.member);
#define INTERLAP_MEMBER_TYPE(Type, member) , decltype(Type::member)
#define INTERLAP_STRUCT(Type, ...)                                                                 \
    template <> struct interlap::detail::members_of<Type> {                                        \
        static constexpr bool listed = true;                                                       \
        using types = types_of<void INTERLAP_EACH(INTERLAP_MEMBER_TYPE, Type, __VA_ARGS__)>;       \
        static constexpr const char *names = #__VA_ARGS__;                                         \
        template <class Of, class F> static void each(Of &of, F each_one) {                        \
            INTERLAP_EACH(INTERLAP_MEMBER, of, __VA_ARGS__)                                        \
        }                                                                                          \
    };

#endif
