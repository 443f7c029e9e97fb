// What the C++ library orders where it has no hooks: counts of references, results at a thread's
// end, and attempts that an exception ends. Nothing here races.
#include <exception>
#include <future>
#include <interlap_operations.hpp>
#include <locale>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

// The library calls the destructors, once it has dropped the last reference.
struct Error {
    volatile int value = 1;
    ~Error() { value = 0; }
};

struct Facet : std::locale::facet {
    static inline std::locale::id id;
    volatile int value = 1;
    ~Facet() { value = 0; }
};

static void expect(bool is) {
    if (!is) std::terminate();
}

// Both threads use what they share, and the last one frees it.
template <class T> static void in_two(T &one, T &two, void (*use)(T &)) {
    std::thread other([&] { use(two); });
    use(one);
    other.join();
}

struct Library {
    std::once_flag flag;
    int tries = 0;
    void once_after_an_exception() {
        try {
            std::call_once(flag, [&] {
                if (++tries < 2) throw 1;
            });
            expect(tries == 2);
        } catch (int) {
        }
    }

    static int made() {
        static int tries = 0;
        if (++tries < 2) throw 1;
        return tries;
    }
    void static_after_an_exception() {
        try {
            static int value = made();
            expect(value == 2);
        } catch (int) {
        }
    }

    void exception_of_a_promise() {
        std::promise<int> promise;
        auto future = promise.get_future();
        std::thread other([own = std::move(promise)]() mutable {
            try {
                throw Error();
            } catch (...) {
                own.set_exception(std::current_exception());
            }
        });
        try {
            std::future<int> own = std::move(future);
            own.get();
        } catch (Error &error) {
            expect(error.value == 1);
        }
        other.join();
    }

    void exception_of_two() {
        std::exception_ptr one = std::make_exception_ptr(Error()), two = one;
        in_two<std::exception_ptr>(one, two, [](std::exception_ptr &from) {
            try {
                std::rethrow_exception(std::move(from));
            } catch (Error &error) {
                expect(error.value == 1);
            }
            from = nullptr;
        });
    }

    void text_of_two() {
        using Text = std::unique_ptr<std::runtime_error>;
        auto one = std::make_unique<std::runtime_error>("a text that both have");
        auto two = std::make_unique<std::runtime_error>(*one);
        in_two<Text>(one, two, [](Text &error) {
            expect(error->what()[0] == 'a');
            error.reset();
        });
    }

    void facet_of_two() {
        std::locale one(std::locale::classic(), new Facet), two = one;
        in_two<std::locale>(one, two, [](std::locale &locale) {
            expect(std::use_facet<Facet>(locale).value == 1);
            locale = std::locale::classic();
        });
    }

    void value_at_a_threads_end() {
        int data = 0;
        std::promise<int> promise;
        auto future = promise.get_future();
        std::thread other([&] { data = 1, promise.set_value_at_thread_exit(1); });
        expect(future.get() == 1 && data == 1);
        other.join();
    }

    void file() {
        int data = 0, file = memfd_create("file", 0);
        std::thread other([&] {
            data = 1;
            expect(pwrite(file, "a", 1, 0) == 1);
        });
        char byte;
        expect(pread(file, &byte, 1, 0) == 0 || data == 1);
        other.join();
        close(file);
    }
};
INTERLAP_OPERATIONS(Library, once_after_an_exception, static_after_an_exception,
                    exception_of_a_promise, exception_of_two, text_of_two, facet_of_two,
                    value_at_a_threads_end, file)
