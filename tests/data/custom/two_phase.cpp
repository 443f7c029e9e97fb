// An object that is prepared and then committed or aborted. WRONG: a commit looks at its ticket and
// writes in two steps.
#include <interlap_operations.hpp>
#include <mutex>
struct State {
    int value;
    bool prepared;
};
INTERLAP_STRUCT(State, value, prepared)
struct Object {
    std::mutex mutex;
    int value = 0, wanted = 0, ticket = 0;
    bool prepared = false;
    std::optional<int> prepare(int to) {
        std::lock_guard<std::mutex> guard(mutex);
        if (prepared) return std::nullopt;
        prepared = true, wanted = to;
        return ++ticket;
    }
    bool is_mine(int mine) {
        std::lock_guard<std::mutex> guard(mutex);
        return prepared && mine == ticket;
    }
    bool commit(int mine) {
#ifdef WRONG
        if (!is_mine(mine)) return false;
        std::lock_guard<std::mutex> guard(mutex);
#else
        std::lock_guard<std::mutex> guard(mutex);
        if (!prepared || mine != ticket) return false;
#endif
        value = wanted, prepared = false;
        return true;
    }
    bool abort(int mine) {
        std::lock_guard<std::mutex> guard(mutex);
        if (!prepared || mine != ticket) return false;
        prepared = false;
        return true;
    }
    State look() {
        std::lock_guard<std::mutex> guard(mutex);
        return {value, prepared};
    }
};
INTERLAP_OPERATIONS(Object, prepare, commit, abort, look)
