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
 * Where the methods have the names and the types that interlap.hpp lists for a family, a model of
 * that family may say what is right (`static constexpr auto model = "lifo"` in the class, or
 * --model lifo); push and pop are also those of a queue and of a priority queue. All that are
 * listed must be operations of it.
 *
 * Where several answers are right, a method of that class takes the structure's answer as one more
 * argument, the last, and says whether it is one of them:
 *
 *     interlap::allows acquire(std::optional<int> answer);
 *
 * Where the state may go several ways, which the answer does not tell (a message may be lost), the
 * method says interlap::choose(n): a number below n. All of them are tried.
 *
 * Where a call takes effect in several steps (it writes, and answers by what it finds after that),
 * the method calls interlap::next_step() between them: others' steps may come there.
 *
 * If that class says all of its members, as INTERLAP_STRUCT(SequentialPool, free), before
 * INTERLAP_MODEL, and has no Local, its state is shown, and orders that lead to equal states need
 * not be tried apart.
 *
 * A method that must not be called as drawn (`release` of what this thread does not hold) calls
 * interlap::skip() before it does anything: another call is drawn. A method may wait for calls of
 * other threads; where a model's would, it calls interlap::wait() instead, before it does anything,
 * or interlap::wait_until([&] { return ...; }) at any place.
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
 * compared_by(f): the method's answers are compared by what f makes of them, as keys in any order
 * by the set of them: interlap::compared_by([](const std::vector<int> &keys) {
 *     return std::multiset<int>(keys.begin(), keys.end()); })
 * first_thread, other_threads: thread 0 alone makes the call, or all others do.
 */
#ifndef INTERLAP_OPERATIONS_HPP
#define INTERLAP_OPERATIONS_HPP

#include "interlap_methods.hpp"

namespace interlap {
namespace detail {

/* A class with its methods: the structure, or its model. */
struct listed_class {
    void *(*create)(const il_config *config);
    void (*destroy)(void *object);
    void *(*enter)(void *object, uint32_t thread);
    void (*leave)(void *object, void *local);
    /* Tells the state of an object that says its members. */
    void (*tell)(const void *object);
    listed_method *methods;
    size_t method_count;
};

template <class T> void tell(const void *object) {
    /* What it keeps for each thread would be missing. */
    if constexpr (members_of<T>::listed && !functions<T>::has_local) {
        static const char *const type = (text() << value_of<T>::name).kept();
        words state;
        value_of<T>::put(*static_cast<const T *>(object), state);
        if (il_model_state != nullptr) il_model_state(type, state.data(), state.size());
    }
    (void)object;
}

template <class T> constexpr listed_class class_of(listed_method *methods, size_t count) {
    return {functions<T>::create, functions<T>::destroy, functions<T>::enter, functions<T>::leave,
            tell<T>,              methods,               count};
}

/* Plain pointers: to read them is no step of the structure's. */
inline const listed_class *the_structure = nullptr;
inline const listed_class *the_model = nullptr;
/* Calls the structure for an operation of a family. */
inline void (*call_of_family)(void *object, void *local, il_call *call) = nullptr;

/* Nothing, or how the model's methods differ from those of the structure. */
inline const char *difference_of_model = nullptr;

/* An object of either class. */
struct instance {
    const listed_class *of;
    void *object;
};

inline void *create_listed(const il_config *config) noexcept {
    const listed_class *of = config->model ? the_model : the_structure;
    if (config->model && difference_of_model != nullptr)
        il_error(config->host, difference_of_model);
    return new (own_allocate(sizeof(instance))) instance{of, of->create(config)};
}
inline void destroy_listed(void *structure) noexcept {
    auto it = static_cast<instance *>(structure);
    it->of->destroy(it->object);
    own_release(it);
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
    if (call->op < IL_METHOD) return call_of_family(it->object, local, call);
    const listed_method &method = it->of->methods[call->op - IL_METHOD];
    words answer;
    try {
        method.run(it->object, local, call, answer);
        if (method.said->form != nullptr && !method.judges)
            method.said->form(method.said->by, answer);
    } catch (const skipped &) {
        call->status = IL_UNSUPPORTED;
        return;
    } catch (const waiting &) {
        call->status = IL_WAITS;
        return;
    } catch (...) {
        call->status = IL_FAILED;
        answer.clear();
        put_exception(answer);
    }
    if (it->of == the_model) it->of->tell(it->object);
    answer_words(call, method, answer);
}

/* Calls an operation of a family that a listed method is. */
template <class T> void call_offered(void *object, void *local, il_call *call) noexcept {
    try {
        functions<T>::template run<offer<T, true>>(object, local, call);
    } catch (const skipped &) {
        call->status = IL_UNSUPPORTED;
    } catch (...) {
        std::terminate();
    }
}

INTERLAP_ONCE inline void find_what_is_said(const listed_class *of) {
    for (size_t at = 0; at < of->method_count; at++)
        of->methods[at].said = said_of(of->methods[at].name);
}

/* The model has the methods of the structure: otherwise says what differs. */
INTERLAP_ONCE inline void compare_with_model() {
    for (size_t at = 0; at < the_structure->method_count; at++) {
        text model, structure;
        the_model->methods[at].write_signature(model, true);
        the_structure->methods[at].write_signature(structure, true);
        const char *has = model.kept(), *wants = structure.kept();
        if (same_text(has, wants)) continue;
        difference_of_model =
            (text() << "the model has " << has << ", the structure " << wants).kept();
        return;
    }
}

/* Adds the methods of the structure to so many operations of families. */
INTERLAP_ONCE inline const il_target *describe(il_target &target, il_operation *operations,
                                               uint32_t count) {
    find_what_is_said(the_structure);
    if (the_model != nullptr) {
        find_what_is_said(the_model);
        compare_with_model();
    }
    for (uint32_t at = 0; at < the_structure->method_count; at++) {
        const listed_method &method = the_structure->methods[at];
        text signature;
        method.write_signature(signature, false);
        operations[count++] = {IL_METHOD + at, method.said->role, signature.kept()};
    }
    target.operation_count = count;
    target.has_model = the_model != nullptr;
    if (target.model == nullptr) target.model = the_model != nullptr ? "class" : "self";
    return &target;
}

template <class T> INTERLAP_ONCE const il_target *listed_target() {
    using offered = operations_of<T, true>;
    watch_exceptions();
    static offered operations;
    static il_target description = {
        IL_ABI_VERSION,
        sizeof(il_target),
        library_option<T>::value,
        version_option<T>::value,
        model_option<T>::value,
        operations.list,
        0,
        thread_max_option<T>::value,
        capacity_option<T>::value,
        block_size_option<T>::value,
        0,
        create_listed,
        destroy_listed,
        enter_listed,
        leave_listed,
        call_listed,
    };
    if constexpr (offered::count() > 0) call_of_family = call_offered<T>;
    return describe(description, operations.list, offered::count());
}

} // namespace detail

/* In a listed method, before it has done anything: it must not be called so; draw another call. */
[[noreturn]] inline void skip() { throw detail::skipped{}; }

/* In a method of a model, before it has done anything: here the call waits for another. */
[[noreturn]] inline void wait() { throw detail::waiting{}; }

/* In a method of a model: what was done so far is a step of its own, which others' may follow. */
inline void next_step() {
    if (il_next_step != nullptr) il_next_step(false);
}

/* In a method of a model: goes on when this is true, after what others do. */
template <class F> void wait_until(F may_go_on) {
    while (il_next_step != nullptr && !may_go_on()) il_next_step(true);
}

/* In a method of a model: a number below `count`, each of which is right. All are tried. */
inline uint32_t choose(uint32_t count) {
    return il_model_choose != nullptr ? il_model_choose(count) : 0;
}

} // namespace interlap

#undef INTERLAP_OPERATIONS
#define INTERLAP_LISTED(Class, name) interlap::detail::listed<Class, &Class::name>(#name),
#define INTERLAP_OPERATIONS(Class, ...)                                                            \
    template <class interlap_class> const interlap::detail::listed_class *interlap_listed() {      \
        static interlap::detail::listed_method methods[] = {                                       \
            INTERLAP_EACH(INTERLAP_LISTED, interlap_class, __VA_ARGS__)};                          \
        static constexpr auto of = interlap::detail::class_of<interlap_class>(                     \
            methods, sizeof(methods) / sizeof(methods[0]));                                        \
        return &of;                                                                                \
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
