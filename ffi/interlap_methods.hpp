/* A method as an operation: its signature, and a call with words for arguments and results. */
#ifndef INTERLAP_METHODS_HPP
#define INTERLAP_METHODS_HPP

#include "interlap.hpp"
#include "interlap_values.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

/* Of what is called once, when the target is loaded: it need not be fast, but compiled fast. */
#define INTERLAP_ONCE __attribute__((cold))

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
template <class F> struct compared_by {
    F form;
    explicit compared_by(F of) : form(of) {}
};
enum role : uint32_t { first_thread = IL_FIRST_THREAD, other_threads = IL_OTHER_THREADS };

namespace detail {

struct skipped {};
struct waiting {};

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
                  "interlap_operations.hpp for those that it knows (a model leaves out the Local "
                  "of the structure)");
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
    /* It is a model's, and is given the answer. */
    bool judges = false;
};

/* What an answer is compared by: makes the words of that of its own. */
struct answer_form {
    virtual void apply(words &answer) const = 0;
};

/* What else is said of a listed method. */
struct said_of_method {
    std::vector<std::string> from;
    std::string answer;
    uint32_t role = IL_ANY_THREAD;
    /* Answers are compared in another form, which has this type. */
    std::string form_type;
    const answer_form *form = nullptr;

    void say(const arguments &of) { from = of.from; }
    void say(const may_answer &of) { answer = of.answer; }
    void say(interlap::role of) { role = of; }
};

INTERLAP_ONCE inline std::string joined(const std::vector<std::string> &parts) {
    std::string all;
    for (const std::string &part : parts)
        all += (all.empty() ? "" : ", ") + part;
    return all;
}

/* What INTERLAP_METHOD has said, by name. */
INTERLAP_ONCE inline std::map<std::string, said_of_method> &said_of_methods() {
    static std::map<std::string, said_of_method> all;
    return all;
}

/* `resize(int 1..64) -> bool or false`. */
INTERLAP_ONCE inline std::string signature_of(const std::string &name, types_of_method of,
                                const said_of_method &said) {
    if (said.form != nullptr && !of.judges) of.results = {said.form_type};
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
    using result = std::decay_t<R>;
    using all = std::index_sequence_for<A...>;
    /* It is a model's, and its last parameter is the answer. */
    static constexpr bool judges = std::is_same_v<R, allows>;

    template <size_t... at> static types_of_method types(std::index_sequence<at...>) {
        (void)std::initializer_list<size_t>{0, sizeof(parameter<method, at, A>)...};
        (void)sizeof(detail::result<method, R>);
        types_of_method of;
        of.judges = judges;
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
    const said_of_method *said;

    /* As the model's is to be. */
    INTERLAP_ONCE std::string signature() const {
        said_of_method of;
        of.form_type = said->form_type;
        of.form = said->form;
        return signature_of(name, types, of);
    }
};

/* Writes the words of an answer. */
inline void answer_words(il_call *call, const listed_method &method, const words &answer) {
    if (answer.size() > call->result_room) {
        std::string why = method.signature() + " answered " + std::to_string(answer.size()) +
                          " words of 64 bits; a call has room for " +
                          std::to_string(call->result_room);
        il_error(call->host, why.c_str());
    }
    std::copy(answer.begin(), answer.end(), call->results);
    call->result_count = static_cast<uint32_t>(answer.size());
}

template <class T, auto method> INTERLAP_ONCE listed_method listed(const char *name) {
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
    return {name, one::types(), run, &said_of_methods()[name]};
}

/* The form of answers of type R. */
template <class R, class F> struct form_by : answer_form {
    using form = std::decay_t<decltype(std::declval<F>()(std::declval<const R &>()))>;
    static_assert(value_of<form>::known, "interlap::compared_by makes of an answer what interlap "
                                         "does not know: see interlap_operations.hpp");
    F make;
    explicit form_by(F of) : make(of) {}
    void apply(words &answer) const override {
        const int64_t *from = answer.data();
        const R whole = value_of<R>::take(from);
        answer.clear();
        value_of<form>::put(make(whole), answer);
    }
};
template <class R, class F> void say(said_of_method &of, const compared_by<F> &by) {
    of.form_type = value_of<typename form_by<R, F>::form>::text();
    of.form = new form_by<R, F>(by.form);
}
template <class R, class Said> void say(said_of_method &of, const Said &said) { of.say(said); }

template <class T, auto method, class... Said>
INTERLAP_ONCE bool say(const char *name, const Said &...said) {
    said_of_method &of = said_of_methods()[name];
    (say<typename call_of<T, method>::type::result>(of, said), ...);
    const size_t wanted = call_of<T, method>::type::types().arguments.size();
    const size_t given = of.from.size();
    /* Where this is no signature, its text is in the error. */
    if (given != 0 && given != wanted)
        of.answer = "(arguments: " + std::to_string(given) + " of " + std::to_string(wanted) + ")";
    return true;
}

} // namespace detail
} // namespace interlap

#endif
