/* Methods of a class: whether it has one of a name that takes these arguments, what the method
   takes and returns, and how it is called. The names are those of the families' operations. */
#ifndef INTERLAP_SIGNATURES_HPP
#define INTERLAP_SIGNATURES_HPP

#include "interlap.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace interlap {

using config = il_config;

enum class status : uint32_t {
    ok = IL_OK,
    empty = IL_EMPTY,
    full = IL_FULL,
    failed = IL_FAILED,
    unknown = IL_UNKNOWN,
    unsupported = IL_UNSUPPORTED,
    done = IL_DONE,
};

namespace detail {

inline thread_local il_call *current_call = nullptr;
/* No step of the structure's, so without the engine's hooks. */
__attribute__((noinline, no_sanitize("thread"))) inline void is_under_way(il_call *call) {
    current_call = call;
}

struct no_local {};

template <class T, class = void> struct local_of { using type = no_local; };
template <class T> struct local_of<T, std::void_t<typename T::Local>> {
    using type = typename T::Local;
};

/* `name(t, local, args...)` calls t.name(local, args...) if there is such a method, else
   t.name(args...); `name::offered<T, Local, Args...>` says whether there is either. */
#define INTERLAP_METHOD(name)                                                                      \
    struct name##_method {                                                                         \
        static constexpr const char *text = #name;                                                 \
        template <class T, class... A>                                                             \
        static auto plain(T &t, A &&...a) -> decltype(t.name(std::forward<A>(a)...)) {             \
            return t.name(std::forward<A>(a)...);                                                  \
        }                                                                                          \
        template <class T, class... A>                                                             \
        using plain_of = decltype(plain(std::declval<T &>(), std::declval<A>()...));               \
        template <class T> using pointer_of = decltype(&T::name);                                  \
    };
INTERLAP_METHOD(enqueue)
INTERLAP_METHOD(dequeue)
INTERLAP_METHOD(enqueue_bulk)
INTERLAP_METHOD(dequeue_bulk)
INTERLAP_METHOD(push)
INTERLAP_METHOD(pop)
INTERLAP_METHOD(take)
INTERLAP_METHOD(steal)
INTERLAP_METHOD(insert)
INTERLAP_METHOD(poll)
INTERLAP_METHOD(remove)
INTERLAP_METHOD(contains)
INTERLAP_METHOD(get)
INTERLAP_METHOD(put)
INTERLAP_METHOD(insert_if_absent)
INTERLAP_METHOD(compare_exchange)
INTERLAP_METHOD(read)
INTERLAP_METHOD(write)
INTERLAP_METHOD(range_count)
INTERLAP_METHOD(rank)
INTERLAP_METHOD(size)
INTERLAP_METHOD(empty)
INTERLAP_METHOD(select)
INTERLAP_METHOD(range_list)
INTERLAP_METHOD(add)
INTERLAP_METHOD(append)
INTERLAP_METHOD(check_tail)
INTERLAP_METHOD(begin)
INTERLAP_METHOD(commit)
INTERLAP_METHOD(abort)
#undef INTERLAP_METHOD

template <class Void, class M, class T, class... A> struct has_method : std::false_type {};
template <class M, class T, class... A>
struct has_method<std::void_t<typename M::template plain_of<T, A...>>, M, T, A...>
    : std::true_type {};
template <class M, class T, class... A>
constexpr bool has = has_method<void, M, T, A...>::value ||
                     has_method<void, M, T, typename local_of<T>::type &, A...>::value;

/* Whether the class has one method of this name, whatever its parameters. */
template <class Void, class M, class T> struct has_name : std::false_type {};
template <class M, class T>
struct has_name<std::void_t<typename M::template pointer_of<T>>, M, T> {
    using pointer = typename M::template pointer_of<T>;
    static constexpr bool value = std::is_member_function_pointer_v<pointer> ||
                                  std::is_function_v<std::remove_pointer_t<pointer>>;
};

template <class M, class T, class L, class... A> decltype(auto) invoke(T &t, L &local, A &&...a) {
    if constexpr (has_method<void, M, T, L &, A...>::value)
        return M::plain(t, local, std::forward<A>(a)...);
    else
        return M::plain(t, std::forward<A>(a)...);
}

/* Runs a method and turns what it returns into a status: void is ok, false is `no`. */
template <class M, class T, class L, class... A>
status answer(status no, T &t, L &local, A &&...a) {
    using R = decltype(invoke<M>(t, local, std::forward<A>(a)...));
    if constexpr (std::is_void_v<R>) {
        invoke<M>(t, local, std::forward<A>(a)...);
        return status::ok;
    } else if constexpr (std::is_same_v<R, status>) {
        return invoke<M>(t, local, std::forward<A>(a)...);
    } else {
        static_assert(std::is_same_v<R, bool>, "a target's method returns bool, void or "
                                               "interlap::status");
        return invoke<M>(t, local, std::forward<A>(a)...) ? status::ok : no;
    }
}

/* What a method returns that says yes or no, or nothing; a number; a value, or none. */
template <class R>
constexpr bool is_yes = std::is_void_v<R> || std::is_same_v<R, bool> || std::is_same_v<R, status>;
template <class R> constexpr bool is_count = std::is_integral_v<R> && !std::is_same_v<R, bool>;
template <class R, class = void> struct is_optional : std::false_type {};
template <class R>
struct is_optional<R, std::void_t<decltype(std::declval<R &>().has_value()),
                                  decltype(static_cast<int64_t>(*std::declval<R &>()))>>
    : std::true_type {};

/* Or a list of numbers. */
template <class R, class = void> struct is_list_of_numbers : std::false_type {};
template <class R>
struct is_list_of_numbers<R, std::void_t<decltype(std::declval<R &>().end()),
                              decltype(static_cast<int64_t>(*std::declval<R &>().begin()))>>
    : std::true_type {};

/* What a method returns; `uncallable` if it cannot be called so. */
struct uncallable {};
template <class R> struct type_of { using type = std::decay_t<R>; };
template <class M, class T, class... A> auto returned() {
    if constexpr (has<M, T, A...>) {
        using local = typename local_of<T>::type;
        return type_of<decltype(invoke<M>(std::declval<T &>(), std::declval<local &>(),
                                          std::declval<A>()...))>{};
    } else {
        return type_of<uncallable>{};
    }
}
template <class M, class T, class... A>
using result_of = typename decltype(returned<M, T, A...>())::type;

/* The parameters of a method: the type of the number that it fills in, if the last one refers to
   one; and whether there is one that does not hold every number. */
template <class... A> struct parameters {
    using filled = int64_t;
    static constexpr bool are_narrow = false;
};
template <class First, class... A> struct parameters<First, A...> : parameters<A...> {
    using type = std::decay_t<First>;
    static constexpr bool is_filled = sizeof...(A) == 0 && std::is_integral_v<type> &&
                                      std::is_same_v<First, type &>;
    using filled = std::conditional_t<is_filled, type, typename parameters<A...>::filled>;
    static constexpr bool is_narrow = std::is_arithmetic_v<type> && !is_filled &&
                                      !(std::is_integral_v<type> && sizeof(type) == 8);
    static constexpr bool are_narrow = is_narrow || parameters<A...>::are_narrow;
};
template <class Pointer> struct parameters_of : parameters<> {};
template <class C, class R, class... A> struct parameters_of<R (C::*)(A...)> : parameters<A...> {};
template <class C, class R, class... A>
struct parameters_of<R (C::*)(A...) const> : parameters<A...> {};
template <class C, class R, class... A>
struct parameters_of<R (C::*)(A...) noexcept> : parameters<A...> {};
template <class C, class R, class... A>
struct parameters_of<R (C::*)(A...) const noexcept> : parameters<A...> {};

/* Of a method that is a template, or one of several, nothing is known. */
template <class Void, class M, class T> struct known_parameters : parameters<> {};
template <class M, class T>
struct known_parameters<std::void_t<typename M::template pointer_of<T>>, M, T>
    : parameters_of<typename M::template pointer_of<T>> {};

/* A number for a parameter of any type that holds it. */
struct any_number {
    int64_t value;
    template <class A, class = std::enable_if_t<std::is_arithmetic_v<A>>> operator A() const {
        if (static_cast<int64_t>(static_cast<A>(value)) != value) {
            std::string why = "a method's parameter cannot hold " + std::to_string(value) +
                              ", with which it is called: widen its type";
            il_error(current_call->host, why.c_str());
        }
        return static_cast<A>(value);
    }
};

/* Numbers for a parameter of any type that lists such as hold them: a std::vector. */
struct any_numbers {
    const int64_t *values;
    size_t count;
    template <class List, class = decltype(std::declval<List &>().push_back(
                              std::declval<typename List::value_type>()))>
    operator List() const {
        List all;
        for (size_t at = 0; at < count; at++)
            all.push_back(static_cast<typename List::value_type>(any_number{values[at]}));
        return all;
    }
};

/* A method that takes so many numbers of a type, and perhaps one that it fills in. */
template <class M, class T, class Number, class Places> struct takes;
template <class M, class T, class Number, size_t... at>
struct takes<M, T, Number, std::index_sequence<at...>> {
    template <size_t> using in = Number;
    using out = typename known_parameters<void, M, T>::filled;
    using result = result_of<M, T, in<at>...>;
    using filling = result_of<M, T, in<at>..., out &>;
    static constexpr bool alone = has<M, T, in<at>...>;
    static constexpr bool fills = has<M, T, in<at>..., out &>;

    template <class L> static decltype(auto) invoked(T &t, L &l, const int64_t *from) {
        (void)from;
        return invoke<M>(t, l, in<at>{from[at]}...);
    }
    template <class L, class... Out>
    static status answered(status no, T &t, L &l, const int64_t *from, Out &...to) {
        (void)from;
        return answer<M>(no, t, l, in<at>{from[at]}..., to...);
    }
};

} // namespace detail
} // namespace interlap

#endif
