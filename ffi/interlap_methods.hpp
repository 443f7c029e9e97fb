/* A method as an operation: its signature, and a call with words for arguments and results. */
#ifndef INTERLAP_METHODS_HPP
#define INTERLAP_METHODS_HPP

#include "interlap.hpp"
#include "interlap_values.hpp"

#include <cstdlib>
#include <cstring>

namespace interlap {

/* What a method of a model says of an answer: is it right? */
enum class allows : bool { no, yes };

/* What INTERLAP_METHOD says of a method. */
struct arguments {
    const char *from[32];
    size_t count;
    template <class... Text>
    constexpr explicit arguments(Text... text) : from{text...}, count(sizeof...(text)) {}
};
struct may_answer {
    const char *answer;
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

/* What else is said of a listed method. */
struct said_of_method {
    const char *name = "";
    arguments from;
    const char *answer = "";
    uint32_t role = IL_ANY_THREAD;
    /* Answers are compared in another form, which has this type: makes their words. */
    const type_name *form_type = nullptr;
    void (*form)(const void *by, words &answer) = nullptr;
    const void *by = nullptr;
    const said_of_method *next = nullptr;

    void say(const arguments &of) { from = of; }
    void say(const may_answer &of) { answer = of.answer; }
    void say(interlap::role of) { role = of; }
};

/* What INTERLAP_METHOD has said. Plain pointers: to read them is no step of the structure's. */
inline const said_of_method *all_that_is_said = nullptr;
INTERLAP_ONCE inline const said_of_method *said_of(const char *name) {
    static const said_of_method nothing;
    const said_of_method *said = all_that_is_said;
    while (said != nullptr && !same_text(said->name, name)) said = said->next;
    return said != nullptr ? said : &nothing;
}

/* An argument or a result of a method. */
struct part_of_method {
    /* None: void. */
    const type_name *type;
    bool is_result;
};

/* A method of the list of a class. */
struct listed_method {
    const char *name;
    void (*run)(void *structure, void *local, il_call *call, words &answer);
    /* The result, then the parameters. */
    const part_of_method *parts;
    size_t count;
    /* It is a model's, and is given the answer. */
    bool judges;
    const said_of_method *said;

    INTERLAP_ONCE size_t count_of(bool results) const {
        size_t n = 0;
        for (size_t at = 0; at < count; at++)
            n += parts[at].type != nullptr && parts[at].is_result == results;
        return n;
    }
    /* Its arguments or its results, with the words in which INTERLAP_METHOD says more of them. */
    INTERLAP_ONCE void write_parts(text &to, bool results, const arguments *from) const {
        size_t n = 0;
        for (size_t at = 0; at < count; at++) {
            if (parts[at].type == nullptr || parts[at].is_result != results) continue;
            to << (n > 0 ? ", " : "") << *parts[at].type;
            if (from != nullptr && n < from->count && from->from[n][0] != 0)
                to << " " << from->from[n];
            n++;
        }
    }
    /* `resize(int 1..64) -> bool or false`; for a comparison with the model's, types alone. */
    INTERLAP_ONCE void write_signature(text &to, bool types_alone) const {
        to << name << "(";
        write_parts(to, false, types_alone ? nullptr : &said->from);
        to << ") -> ";
        const size_t results = count_of(true), wanted = count_of(false);
        if (said->form != nullptr && !judges) {
            to << *said->form_type;
        } else {
            to << (results == 0 ? "void" : results > 1 ? "tuple<" : "");
            write_parts(to, true, nullptr);
            to << (results > 1 ? ">" : "");
        }
        const size_t given = said->from.count;
        if (types_alone) return;
        /* This is no signature, and its text is in the error. */
        if (given != 0 && given != wanted)
            to << " or (arguments: " << given << " of " << wanted << ")";
        else if (said->answer[0] != 0)
            to << " or " << said->answer;
    }
};

/* An argument of a call, or what the method fills. */
template <size_t at, class A> struct argument {
    std::decay_t<A> value;
    static std::decay_t<A> read(const int64_t *&from) {
        if constexpr (is_out<A>)
            return std::decay_t<A>{};
        else
            return value_of<std::decay_t<A>>::take(from);
    }
    explicit argument(const int64_t *&from) : value(read(from)) {}
    void put_out(words &to) const {
        if constexpr (is_out<A>) value_of<std::decay_t<A>>::put(value, to);
    }
};
template <class Places, class... A> struct arguments_of_call;
template <size_t... at, class... A>
struct arguments_of_call<std::index_sequence<at...>, A...> : argument<at, A>... {
    explicit arguments_of_call(const int64_t *&from) : argument<at, A>(from)... { (void)from; }
};

/* The arguments of a call, and the structure's answer after them, for a model to judge. */
INTERLAP_OWN inline const int64_t *with_answer(const il_call *call, words &to) {
    to.append(call->args, call->arg_count);
    to.append(call->results, call->result_count);
    return to.data();
}

/* A listed method of T with these parameters, after that of the thread's own state if it has
   one. */
template <class T, auto method, bool wants_local, class R, class Places, class... A>
struct method_call;
template <class T, auto method, bool wants_local, class R, size_t... at, class... A>
struct method_call<T, method, wants_local, R, std::index_sequence<at...>, A...> {
    using local = typename local_of<T>::type;
    using result = std::decay_t<R>;
    using arguments = arguments_of_call<std::index_sequence<at...>, A...>;
    /* It is a model's, and its last parameter is the answer. */
    static constexpr bool judges = std::is_same_v<R, allows>;

    static constexpr part_of_method returned() {
        (void)sizeof(detail::result<method, R>);
        if constexpr (judges || std::is_void_v<R>)
            return {nullptr, true};
        else
            return {&value_of<result>::name, true};
    }
    static constexpr size_t count = 1 + sizeof...(A);
    static constexpr part_of_method parts[count] = {
        returned(),
        {&value_of<typename parameter<method, at, A>::type>::name,
         is_out<A> || (judges && at + 1 == sizeof...(A))}...,
    };

    static R invoke(T &structure, local &own, arguments &all) {
        (void)own, (void)all;
        if constexpr (wants_local)
            return (structure.*method)(
                own, static_cast<A &&>(static_cast<argument<at, A> &>(all).value)...);
        else
            return (structure.*method)(
                static_cast<A &&>(static_cast<argument<at, A> &>(all).value)...);
    }
    static void run(T &structure, local &own, il_call *call, words &to) {
        const int64_t *from = call->args;
        words judged;
        if constexpr (judges) {
            /* The structure threw, or its call waits for ever: there is no answer to judge. */
            if (sizeof...(A) > 0 && call->result_count == 0) throw waiting{};
            from = with_answer(call, judged);
        }
        arguments all(from);
        if constexpr (judges) {
            if (invoke(structure, own, all) == allows::no) throw skipped{};
            to.append(call->results, call->result_count);
        } else if constexpr (std::is_void_v<R>)
            invoke(structure, own, all);
        else
            value_of<result>::put(invoke(structure, own, all), to);
        (static_cast<argument<at, A> &>(all).put_out(to), ...);
    }
    static void run(void *structure, void *l, il_call *call, words &to) {
        if constexpr (functions<T>::has_local) {
            run(*static_cast<T *>(structure), *static_cast<local *>(l), call, to);
        } else {
            (void)l;
            no_local none;
            run(*static_cast<T *>(structure), none, call, to);
        }
    }
};

/* The method_call of a pointer to a method. */
template <class T, auto method, class P = decltype(method)> struct call_of;
template <class T, auto method, class R, class... A> struct call_with {
    using type = method_call<T, method, false, R, std::index_sequence_for<A...>, A...>;
};
template <class T, auto method, class R, class First, class... A>
struct call_with<T, method, R, First, A...> {
    static constexpr bool wants_local =
        std::is_same_v<std::decay_t<First>, typename local_of<T>::type>;
    using type = std::conditional_t<
        wants_local, method_call<T, method, true, R, std::index_sequence_for<A...>, A...>,
        method_call<T, method, false, R, std::index_sequence_for<First, A...>, First, A...>>;
};
#define INTERLAP_POINTER(qualifiers)                                                               \
    template <class T, auto method, class C, class R, class... A>                                  \
    struct call_of<T, method, R (C::*)(A...) qualifiers> : call_with<T, method, R, A...> {};
INTERLAP_POINTER()
INTERLAP_POINTER(const)
INTERLAP_POINTER(noexcept)
INTERLAP_POINTER(const noexcept)
#undef INTERLAP_POINTER

template <class T, auto method> constexpr listed_method listed(const char *name) {
    using call = typename call_of<T, method>::type;
    return {name, call::run, call::parts, call::count, call::judges, nullptr};
}

/* Writes the type of the exception that is being handled. */
INTERLAP_ONCE inline void put_exception(words &to) {
    const std::type_info *type = abi::__cxa_current_exception_type();
    if (type == nullptr) {
        const char *name = "an exception of another language";
        return put_bytes(name, std::strlen(name), to);
    }
    int failed = 0;
    char *demangled = abi::__cxa_demangle(type->name(), nullptr, nullptr, &failed);
    const char *name = failed == 0 ? demangled : type->name();
    put_bytes(name, std::strlen(name), to);
    std::free(demangled);
}

/* Writes the words of an answer. */
INTERLAP_OWN inline void answer_words(il_call *call, const listed_method &method,
                                      const words &answer) {
    if (answer.size() > call->result_room) {
        text why;
        method.write_signature(why, true);
        why << " answered " << answer.size() << " words of 64 bits; a call has room for "
            << size_t(call->result_room);
        il_error(call->host, why.kept());
    }
    for (size_t at = 0; at < answer.size(); at++) call->results[at] = answer.data()[at];
    call->result_count = static_cast<uint32_t>(answer.size());
}

/* Answers of type R in the form that F makes of them. */
template <class R, class F> struct form_by {
    using form = std::decay_t<decltype(std::declval<F>()(std::declval<const R &>()))>;
    static_assert(value_of<form>::known, "interlap::compared_by makes of an answer what interlap "
                                         "does not know: see interlap_operations.hpp");
    static void apply(const void *by, words &answer) {
        const int64_t *from = answer.data();
        const R whole = value_of<R>::take(from);
        answer.clear();
        value_of<form>::put((*static_cast<const F *>(by))(whole), answer);
    }
};
template <class R, class F> void say(said_of_method &of, const compared_by<F> &by) {
    of.form_type = &value_of<typename form_by<R, F>::form>::name;
    of.form = form_by<R, F>::apply;
    of.by = new F(by.form);
}
template <class R, class Said> void say(said_of_method &of, const Said &said) { of.say(said); }

template <class T, auto method, class... Said>
INTERLAP_ONCE bool say(const char *name, const Said &...said) {
    static said_of_method of;
    (say<typename call_of<T, method>::type::result>(of, said), ...);
    of.name = name, of.next = all_that_is_said;
    all_that_is_said = &of;
    return true;
}

} // namespace detail
} // namespace interlap

#endif
