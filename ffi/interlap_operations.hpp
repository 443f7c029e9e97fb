/*
 * interlap_operations.hpp: turns a C++17 class that fits no family into a target.
 *
 *     #include <interlap_operations.hpp>
 *     #include "pool.h"
 *
 *     INTERLAP_OPERATIONS(Pool, acquire, release, peek)
 *
 * The class is made by its default constructor, or from a `const interlap::config &`. Each of the
 * listed methods is an operation, which threads call at once. An argument and a result may be of
 * type
 *
 *     bool, an integer, an enumeration, std::string, std::optional, std::variant, std::pair,
 *     std::tuple, std::array, a container with push_back (std::vector), a set, a map,
 *     or a struct of such members that says so: INTERLAP_STRUCT(Point, x, y)
 *
 * An argument that is a reference to something not const is a result, too: what it refers to is
 * made by its default constructor. An exception is a result: its type. The optional members that
 * interlap.hpp lists (library, version, model, thread_max, Local, ...) mean the same.
 *
 * What is right is what the class itself answers, called by one thread at a time. Instead, a class
 * with the same methods may say it, an ordinary one that knows no threads:
 *
 *     INTERLAP_MODEL(SequentialPool)          after INTERLAP_OPERATIONS
 *
 * Where several answers are right, a method of that class takes the structure's answer as one more
 * argument, the last, and says whether it is one of them:
 *
 *     interlap::allows acquire(std::optional<int> answer);
 *
 * A method that must not be called as drawn (`release` of what this thread does not hold) calls
 * interlap::skip() before it does anything: another call is drawn. A method may wait for calls of
 * other threads; where a model's would, it calls interlap::wait() instead, before it does anything.
 *
 * Integers are drawn from a few small numbers and from what earlier calls of the thread answered,
 * so that `release` gets what `acquire` gave. After INTERLAP_OPERATIONS more can be said of a
 * method:
 *
 *     INTERLAP_METHOD(Ring, push, interlap::arguments("distinct"), interlap::first_thread)
 *     INTERLAP_METHOD(Ring, try_pop, interlap::may_answer("none"), interlap::other_threads)
 *
 * arguments(...): a word for each argument that is not a result, from where its numbers come, also
 * those inside it: "" as above; "few": small numbers alone; "answered": what the thread was
 * answered; "distinct": what no other call of the round has; "1..64": of these, often the ends and
 * what is beside a power of two. Of a string, the last is its length.
 * may_answer(...): this answer, of a bool, an integer or an optional ("false", "-1", "none"), says
 * that nothing was done, and may be given at any time: the call may fail spuriously.
 * first_thread, other_threads: thread 0 alone makes the call, or all others do.
 */
#ifndef INTERLAP_OPERATIONS_HPP
#define INTERLAP_OPERATIONS_HPP

#include "interlap.hpp"

#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

namespace interlap {

/* What a method of a model says of an answer: is it right? */
enum class allows : bool { no, yes };

/* What INTERLAP_METHOD says of a method. */
struct arguments {
    std::vector<std::string> from;
    template <class... Text> explicit arguments(Text... text) : from{text...} {}
};
struct may_answer {
    std::string answer;
    explicit may_answer(const char *text) : answer(text) {}
};
enum role : uint32_t { first_thread = IL_FIRST_THREAD, other_threads = IL_OTHER_THREADS };

namespace detail {

struct skipped {};
struct waiting {};

/* How a type is written into words, and read from them: `text()` is its name in signatures. */
template <class T, class = void> struct value_of {
    static constexpr bool known = false;
};

/* The members of a struct, which INTERLAP_STRUCT lists. */
template <class T> struct members_of {
    static constexpr bool listed = false;
};

using words = std::vector<int64_t>;

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
        std::vector<words> elements;
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

/* Whether a parameter is filled by the method. */
template <class A>
constexpr bool is_out =
    std::is_lvalue_reference_v<A> && !std::is_const_v<std::remove_reference_t<A>>;

/* A parameter of a listed method: the error below names the method, the number of the parameter
   (from 0) and its type. */
template <auto method, size_t number, class A> struct parameter {
    using type = std::decay_t<A>;
    static_assert(value_of<type>::known,
                  "a listed method has a parameter of a type that interlap does not know: see "
                  "interlap_operations.hpp for those that it knows");
};
template <auto method, class R> struct result {
    using type = std::decay_t<R>;
    static_assert(std::is_void_v<R> || value_of<type>::known,
                  "a listed method returns a type that interlap does not know: see "
                  "interlap_operations.hpp for those that it knows");
};

/* The types of a method, as signatures have them. */
struct types_of_method {
    std::vector<std::string> arguments, results;
};

/* What else is said of a listed method. */
struct said_of_method {
    std::vector<std::string> from;
    std::string answer;
    uint32_t role = IL_ANY_THREAD;

    void say(const arguments &of) { from = of.from; }
    void say(const may_answer &of) { answer = of.answer; }
    void say(interlap::role of) { role = of; }
};

inline std::string joined(const std::vector<std::string> &parts) {
    std::string all;
    for (const std::string &part : parts)
        all += (all.empty() ? "" : ", ") + part;
    return all;
}

/* `resize(int 1..64) -> bool or false`; nothing is said of a method of a model. */
inline std::string signature_of(const std::string &name, types_of_method of,
                                const said_of_method &said) {
    for (size_t at = 0; at < said.from.size() && at < of.arguments.size(); at++)
        if (!said.from[at].empty()) of.arguments[at] += " " + said.from[at];
    std::string result = of.results.empty() ? "void" : joined(of.results);
    if (of.results.size() > 1) result = "tuple<" + result + ">";
    if (!said.answer.empty()) result += " or " + said.answer;
    return name + "(" + joined(of.arguments) + ") -> " + result;
}

/* A listed method of T with these parameters, after that of the thread's own state if it has
   one. */
template <class T, auto method, bool wants_local, class R, class... A> struct method_call {
    using local = typename local_of<T>::type;
    using values = std::tuple<std::decay_t<A>...>;
    using all = std::index_sequence_for<A...>;
    /* It is a model's, and its last parameter is the answer. */
    static constexpr bool judges = std::is_same_v<R, allows>;

    template <size_t... at> static types_of_method types(std::index_sequence<at...>) {
        (void)std::initializer_list<size_t>{0, sizeof(parameter<method, at, A>)...};
        (void)sizeof(result<method, R>);
        types_of_method of;
        if constexpr (!judges && !std::is_void_v<R>)
            of.results.push_back(value_of<std::decay_t<R>>::text());
        ((is_out<A> || (judges && at + 1 == sizeof...(A)) ? of.results : of.arguments)
             .push_back(value_of<std::decay_t<A>>::text()),
         ...);
        return of;
    }
    static types_of_method types() { return types(all{}); }

    template <class P> static std::decay_t<P> argument(const int64_t *&from) {
        if constexpr (is_out<P>)
            return std::decay_t<P>{};
        else
            return value_of<std::decay_t<P>>::take(from);
    }

    template <size_t... at>
    static void run(T &structure, local &own, il_call *call, words &to,
                    std::index_sequence<at...>) {
        const int64_t *from = call->args;
        words with_answer;
        if constexpr (judges) {
            /* The structure threw, or its call waits for ever: there is no answer to judge. */
            if (sizeof...(A) > 0 && call->result_count == 0) throw waiting{};
            with_answer.assign(call->args, call->args + call->arg_count);
            with_answer.insert(with_answer.end(), call->results,
                               call->results + call->result_count);
            from = with_answer.data();
        }
        (void)from;
        values arguments{argument<A>(from)...};
        auto invoke = [&]() -> R {
            if constexpr (wants_local)
                return (structure.*method)(own, static_cast<A &&>(std::get<at>(arguments))...);
            else
                return (structure.*method)(static_cast<A &&>(std::get<at>(arguments))...);
        };
        if constexpr (judges) {
            if (invoke() == allows::no) throw skipped{};
            to.assign(call->results, call->results + call->result_count);
        } else if constexpr (std::is_void_v<R>)
            invoke();
        else
            value_of<std::decay_t<R>>::put(invoke(), to);
        auto put_out = [&](auto is_filled, const auto &value) {
            if constexpr (decltype(is_filled)::value)
                value_of<std::decay_t<decltype(value)>>::put(value, to);
        };
        (void)put_out;
        (put_out(std::bool_constant<is_out<A>>{}, std::get<at>(arguments)), ...);
    }
    static void run(T &structure, local &own, il_call *call, words &to) {
        run(structure, own, call, to, all{});
    }
};

/* The method_call of a pointer to a method. */
template <class T, auto method, class P = decltype(method)> struct call_of;
template <class T, auto method, class R, class... A> struct call_with {
    using type = method_call<T, method, false, R, A...>;
};
template <class T, auto method, class R, class First, class... A>
struct call_with<T, method, R, First, A...> {
    static constexpr bool wants_local =
        std::is_same_v<std::decay_t<First>, typename local_of<T>::type>;
    using type = std::conditional_t<wants_local, method_call<T, method, true, R, A...>,
                                    method_call<T, method, false, R, First, A...>>;
};
#define INTERLAP_POINTER(qualifiers)                                                               \
    template <class T, auto method, class C, class R, class... A>                                  \
    struct call_of<T, method, R (C::*)(A...) qualifiers> : call_with<T, method, R, A...> {};
INTERLAP_POINTER()
INTERLAP_POINTER(const)
INTERLAP_POINTER(noexcept)
INTERLAP_POINTER(const noexcept)
#undef INTERLAP_POINTER

/* Writes the words of an answer. */
inline void answer_words(il_call *call, const std::string &signature, const words &answer) {
    if (answer.size() > call->result_room) {
        std::string why = signature + " answered " + std::to_string(answer.size()) +
                          " words of 64 bits; a call has room for " +
                          std::to_string(call->result_room);
        il_error(call->host, why.c_str());
    }
    std::copy(answer.begin(), answer.end(), call->results);
    call->result_count = static_cast<uint32_t>(answer.size());
}

/* The type of the exception that is being handled. */
inline std::string exception_type() {
    const std::type_info *type = abi::__cxa_current_exception_type();
    if (type == nullptr) return "an exception of another language";
    int failed = 0;
    char *demangled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &failed);
    std::string name = failed == 0 ? demangled : type->name();
    std::free(demangled);
    return name;
}

/* A method of the list of a class. */
struct listed_method {
    const char *name;
    types_of_method types;
    void (*run)(void *structure, void *local, il_call *call, words &answer);
    /* As the model's is to be. */
    std::string signature;
};

template <class T, auto method> listed_method listed(const char *name) {
    using one = typename call_of<T, method>::type;
    auto run = [](void *structure, void *local, il_call *call, words &answer) {
        no_local none;
        if constexpr (functions<T>::has_local) {
            (void)none;
            one::run(*static_cast<T *>(structure),
                     *static_cast<typename local_of<T>::type *>(local), call, answer);
        } else {
            (void)local;
            one::run(*static_cast<T *>(structure), none, call, answer);
        }
    };
    return {name, one::types(), run, signature_of(name, one::types(), {})};
}

/* What INTERLAP_METHOD has said, by name. */
inline std::map<std::string, said_of_method> &said_of_methods() {
    static std::map<std::string, said_of_method> all;
    return all;
}

template <class T, auto method, class... Said> bool say(const char *name, const Said &...said) {
    auto words_of = [](const auto &one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, arguments>)
            return one.from.size();
        else
            return size_t(0);
    };
    const size_t wanted = call_of<T, method>::type::types().arguments.size();
    const size_t given = (size_t(0) + ... + words_of(said));
    said_of_method &of = said_of_methods()[name];
    (of.say(said), ...);
    if (given != 0 && given != wanted)
        of.from = {"(arguments: " + std::to_string(given) + " of " + std::to_string(wanted) + ")"};
    return true;
}

/* A class with its methods: the structure, or its model. */
struct listed_class {
    void *(*create)(const il_config *config);
    void (*destroy)(void *object);
    void *(*enter)(void *object, uint32_t thread);
    void (*leave)(void *object, void *local);
    std::vector<listed_method> methods;
};

template <class T> const listed_class *class_of(std::vector<listed_method> methods) {
    static const listed_class of = {functions<T>::create, functions<T>::destroy,
                                    functions<T>::enter, functions<T>::leave, std::move(methods)};
    return &of;
}

/* Plain pointers: to read them is no step of the structure's. */
inline const listed_class *the_structure = nullptr;
inline const listed_class *the_model = nullptr;

/* The model has the methods of the structure: otherwise what differs, else nothing. */
inline std::string difference_of_model() {
    for (size_t at = 0; at < the_structure->methods.size(); at++) {
        const std::string &has = the_model->methods[at].signature;
        const std::string &wants = the_structure->methods[at].signature;
        if (has != wants) return "the model has " + has + ", the structure " + wants;
    }
    return "";
}

/* An object of either class. */
struct instance {
    const listed_class *of;
    void *object;
};

inline void *create_listed(const il_config *config) noexcept {
    const listed_class *of = config->model ? the_model : the_structure;
    const std::string difference = config->model ? difference_of_model() : "";
    if (!difference.empty()) il_error(config->host, difference.c_str());
    return new instance{of, of->create(config)};
}
inline void destroy_listed(void *structure) noexcept {
    auto it = static_cast<instance *>(structure);
    it->of->destroy(it->object);
    delete it;
}
inline void *enter_listed(void *structure, uint32_t thread) noexcept {
    auto it = static_cast<instance *>(structure);
    return it->of->enter(it->object, thread);
}
inline void leave_listed(void *structure, void *local) noexcept {
    auto it = static_cast<instance *>(structure);
    it->of->leave(it->object, local);
}
inline void call_listed(void *structure, void *local, il_call *call) noexcept {
    is_under_way(call);
    auto it = static_cast<instance *>(structure);
    const listed_method &method = it->of->methods[call->op - IL_METHOD];
    words answer;
    try {
        method.run(it->object, local, call, answer);
    } catch (const skipped &) {
        call->status = IL_UNSUPPORTED;
        return;
    } catch (const waiting &) {
        call->status = IL_WAITS;
        return;
    } catch (...) {
        call->status = IL_FAILED;
        answer.clear();
        value_of<std::string>::put(exception_type(), answer);
    }
    answer_words(call, method.signature, answer);
}

template <class T> const il_target *listed_target() {
    static const bool watches = watches_exceptions();
    (void)watches;
    static std::vector<il_operation> operations;
    static std::list<std::string> signatures;
    operations.clear();
    for (const listed_method &method : the_structure->methods) {
        auto op = static_cast<uint32_t>(IL_METHOD + operations.size());
        const said_of_method &said = said_of_methods()[method.name];
        signatures.push_back(signature_of(method.name, method.types, said));
        operations.push_back({op, said.role, signatures.back().c_str()});
    }
    const bool has_model = the_model != nullptr;
    static il_target description = {};
    description = {
        IL_ABI_VERSION,
        sizeof(il_target),
        library_option<T>::value,
        version_option<T>::value,
        model_option<T>::value != nullptr ? model_option<T>::value : has_model ? "class" : "self",
        operations.data(),
        static_cast<uint32_t>(operations.size()),
        thread_max_option<T>::value,
        capacity_option<T>::value,
        block_size_option<T>::value,
        has_model,
        create_listed,
        destroy_listed,
        enter_listed,
        leave_listed,
        call_listed,
    };
    return &description;
}

} // namespace detail

/* In a listed method, before it has done anything: it must not be called so; draw another call. */
[[noreturn]] inline void skip() { throw detail::skipped{}; }

/* In a method of a model, before it has done anything: here the call waits for another. */
[[noreturn]] inline void wait() { throw detail::waiting{}; }

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

#undef INTERLAP_OPERATIONS
#define INTERLAP_LISTED(Class, name) interlap::detail::listed<Class, &Class::name>(#name),
#define INTERLAP_OPERATIONS(Class, ...)                                                            \
    template <class interlap_class>                                                                \
    static const interlap::detail::listed_class *interlap_listed() {                               \
        return interlap::detail::class_of<interlap_class>(                                         \
            {INTERLAP_EACH(INTERLAP_LISTED, interlap_class, __VA_ARGS__)});                        \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"))) const il_target *interlap_target(void) {     \
        interlap::detail::the_structure = interlap_listed<Class>();                                \
        return interlap::detail::listed_target<Class>();                                           \
    }

/* Says more of a listed method: arguments(...), may_answer(...), first_thread, other_threads. */
#define INTERLAP_METHOD(Class, method, ...)                                                        \
    static const bool interlap_said_of_##method =                                                  \
        interlap::detail::say<Class, &Class::method>(#method, __VA_ARGS__);

/* A sequential class with the methods that INTERLAP_OPERATIONS lists, which say what is right. */
#define INTERLAP_MODEL(Class)                                                                      \
    static const bool interlap_has_model =                                                         \
        (interlap::detail::the_model = interlap_listed<Class>()) != nullptr;

#endif
