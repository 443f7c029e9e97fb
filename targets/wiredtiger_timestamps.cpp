// WiredTiger, transactions with timestamps, prepared and not, over two tables of integers.
//
// Every method answers what WiredTiger answers: 0, or its code. Timestamps come from a clock of the
// adapter, which each commit and each prepare moves by one; the answer says which was taken. Some
// are out of order, equal, or too early. About one call in ten is misuse, which must be refused.
// What a transaction does after WT_ROLLBACK is recorded, too, until it ends.
//
// The documentation asks that nobody changes the global timestamps at the same time, so a mutex is
// held for that, and that no transaction runs beside rollback_to_stable: it is called only where
// none but the caller's is open, with those that begin kept waiting.
//
// Both tables hold -1 and 4 all the time, and the places of 0 to 3, so that a truncate always finds
// an end of the range, and the only page is never evicted.
//
// Guarantee: what targets/specifications/WiredTiger.tla allows.
// Source: WiredTiger reference guide, "Transactions"; docs/wiredtiger.md says where it differs.
// Engine: native
// interlap: -lwiredtiger
#include "wiredtiger.hpp"

#include <atomic>
#include <cstdio>
#include <interlap_operations.hpp>
#include <memory>
#include <mutex>
#include <shared_mutex>

struct At {
    int code;
    int at;
};
struct Prepared {
    int code;
    int at;
    int durable;
};
INTERLAP_STRUCT(At, code, at)
INTERLAP_STRUCT(Prepared, code, at, durable)

static constexpr int tables = 2, last_key = 3;
static constexpr const char *names[tables] = {"table:a", "table:b"};

// The session of a thread, with the cursor of its calls and two for truncate, of each table.
struct Client {
    WT_SESSION *session = nullptr;
    WT_CURSOR *cursor[tables], *low[tables], *high[tables];
    enum { none, snapshot, read_committed } open = none;
    bool changed = false, prepared = false;
    unsigned draws;

    Client(const targets::Database &of, unsigned seed) : draws(seed) {
        WT_CONNECTION *c = of.connection;
        of.check("open_session", c->open_session(c, nullptr, nullptr, &session));
        for (int at = 0; at < tables; at++)
            for (WT_CURSOR **to : {&cursor[at], &low[at], &high[at]})
                of.check("open_cursor", session->open_cursor(session, names[at], nullptr,
                                                             "overwrite=false", to));
    }
    // Skips all but one in so many calls.
    void rarely(unsigned one_in) {
        draws = draws * 1664525 + 1013904223;
        if ((draws >> 16) % one_in != 0) interlap::skip();
    }
    void misuse_if(bool is) {
        if (is) rarely(12);
    }
};

struct Target : targets::Database {
    static constexpr auto model = "wiredtiger";
    static constexpr auto options = "create,in_memory=true,cache_size=64MB,session_max=128,"
                                    "eviction=(threads_min=1,threads_max=1)";

    std::atomic<int> clock{0}, open{0};
    std::shared_mutex begins;
    std::mutex timestamps;
    unsigned seed;
    // They live as long as the database, so that nothing is rolled back while others still run.
    std::unique_ptr<Client> clients[128];

    explicit Target(const interlap::config &config)
        : Database(config, options), seed(static_cast<unsigned>(config.seed + config.round)) {
        for (const char *name : names)
            create(name, "key_format=q,value_format=q,log=(enabled=false)");
        Client first(*this, seed);
        for (int at = 0; at < tables; at++) {
            set(first, at, -1, 0);
            set(first, at, last_key + 1, 0);
            first.session->begin_transaction(first.session, nullptr);
            for (int key = 0; key <= last_key; key++) set(first, at, key, 0);
            first.session->rollback_transaction(first.session, nullptr);
        }
        check("close", first.session->close(first.session, nullptr));
    }
    // A close that has to roll back what cannot be rolled back panics, so twice before.
    ~Target() {
        for (auto &it : clients)
            for (int times = 0; it && times < 2; times++)
                it->session->rollback_transaction(it->session, nullptr);
    }
    void set(Client &by, int table, int64_t key, int64_t value) {
        WT_CURSOR *cursor = by.cursor[table];
        cursor->set_key(cursor, key);
        cursor->set_value(cursor, value);
        check("insert", cursor->insert(cursor));
    }

    struct Local {
        Client &client;
        Local(Target &t, unsigned thread) : client(t.client(thread)) {}
        Client *operator->() { return &client; }
        WT_SESSION *session() { return client.session; }
    };
    Client &client(unsigned thread) {
        auto &it = clients[thread % 128];
        if (!it) it = std::make_unique<Client>(*this, seed + thread);
        return *it;
    }
    static int at_least_one(int at) { return at < 1 ? 1 : at; }
    int soon(int ahead) { return at_least_one(clock.fetch_add(1) + ahead - 2); }

    // Transactions.
    int begin_with(Local &local, const char *config, decltype(Client::open) as) {
        local->misuse_if(local->open);
        std::shared_lock<std::shared_mutex> gate(begins);
        int code = local.session()->begin_transaction(local.session(), config);
        if (code == 0) {
            local->open = as;
            open++;
        }
        return code;
    }
    int begin(Local &local) { return begin_with(local, "isolation=snapshot", Client::snapshot); }
    int begin_read_committed(Local &local) {
        return begin_with(local, "isolation=read-committed", Client::read_committed);
    }
    At begin_at(Local &local, int back) {
        char config[64];
        int at = at_least_one(clock - back);
        snprintf(config, sizeof config, "isolation=snapshot,read_timestamp=%x", at);
        return {begin_with(local, config, Client::snapshot), at};
    }
    // `ended`: whether it is over, which a failed commit is not always.
    int end(Local &local, int code) {
        char read[32];
        WT_SESSION *session = local.session();
        if (local->open && session->query_timestamp(session, read, "get=read") == WT_NOTFOUND) {
            local->open = Client::none;
            local->changed = local->prepared = false;
            open--;
        }
        return code;
    }
    int commit_with(Local &local, const char *config) {
        return end(local, local.session()->commit_transaction(local.session(), config));
    }
    int commit(Local &local) {
        local->misuse_if(!local->open || local->prepared);
        return commit_with(local, nullptr);
    }
    At commit_at(Local &local, int ahead) {
        local->misuse_if(!local->open || local->prepared);
        if (local->open == Client::read_committed) local->rarely(3);
        char config[64];
        int at = soon(ahead);
        snprintf(config, sizeof config, "commit_timestamp=%x", at);
        return {commit_with(local, config), at};
    }
    At prepare(Local &local, int ahead) {
        local->misuse_if(!local->open || local->prepared);
        if (local->open == Client::read_committed) local->rarely(3);
        char config[64];
        int at = soon(ahead);
        snprintf(config, sizeof config, "prepare_timestamp=%x", at);
        int code = local.session()->prepare_transaction(local.session(), config);
        if (code == 0) local->prepared = true;
        return {code, at};
    }
    Prepared commit_prepared(Local &local, int ahead, int longer) {
        local->misuse_if(!local->prepared);
        char config[96];
        int at = soon(ahead), durable = at_least_one(at + longer - 1);
        snprintf(config, sizeof config, "commit_timestamp=%x,durable_timestamp=%x", at, durable);
        return {commit_with(local, config), at, durable};
    }
    int rollback(Local &local) {
        local->misuse_if(!local->open);
        return end(local, local.session()->rollback_transaction(local.session(), nullptr));
    }

    // What a transaction does. A cursor is kept where the call leaves it.
    WT_CURSOR *at(Local &local, int table, int64_t key) {
        if (!local->open) interlap::skip();
        local->misuse_if(local->prepared);
        WT_CURSOR *cursor = local->cursor[table];
        cursor->set_key(cursor, key);
        return cursor;
    }
    int search(Local &local, int table, int64_t key) {
        WT_CURSOR *cursor = at(local, table, key);
        int64_t value = 0;
        int code = cursor->search(cursor);
        if (code == 0) code = cursor->get_value(cursor, &value);
        return code == 0 ? static_cast<int>(value) : code;
    }
    int changes(Local &local, int code) {
        if (code == 0) local->changed = true;
        return code;
    }
    int insert(Local &local, int table, int64_t key, int64_t value) {
        WT_CURSOR *cursor = at(local, table, key);
        cursor->set_value(cursor, value);
        return changes(local, cursor->insert(cursor));
    }
    int update(Local &local, int table, int64_t key, int64_t value) {
        WT_CURSOR *cursor = at(local, table, key);
        cursor->set_value(cursor, value);
        return changes(local, cursor->update(cursor));
    }
    int remove(Local &local, int table, int64_t key) {
        WT_CURSOR *cursor = at(local, table, key);
        return changes(local, cursor->remove(cursor));
    }
    int truncate(Local &local, int table, int64_t low, int64_t high) {
        if (!local->open) interlap::skip();
        local->misuse_if(local->prepared || low > high);
        WT_CURSOR *from = local->low[table], *to = local->high[table];
        from->set_key(from, low);
        to->set_key(to, high);
        return local.session()->truncate(local.session(), nullptr, from, to, nullptr);
    }
    int reset(Local &local) {
        int code = 0;
        for (WT_CURSOR *cursor : local->cursor) code |= cursor->reset(cursor);
        return code;
    }

    // The global timestamps.
    At set_global(const char *which, int at) {
        char config[64];
        snprintf(config, sizeof config, "%s_timestamp=%x", which, at);
        std::lock_guard<std::mutex> one(timestamps);
        return {connection->set_timestamp(connection, config), at};
    }
    At set_stable(Local &, int back) {
        return set_global("stable", at_least_one(clock - 1 - back));
    }
    At set_oldest(Local &, int back) {
        return set_global("oldest", at_least_one(clock - 3 - back));
    }
    // Refused while the caller has changed something. Its snapshot alone may go unnoticed.
    int rollback_to_stable(Local &local) {
        if (local->open && !local->changed && !local->prepared) interlap::skip();
        std::unique_lock<std::shared_mutex> gate(begins);
        if (open - (local->open ? 1 : 0) != 0) interlap::skip();
        std::lock_guard<std::mutex> one(timestamps);
        return connection->rollback_to_stable(connection, nullptr);
    }
};
INTERLAP_OPERATIONS(Target, begin, begin_read_committed, begin_at, commit, commit_at, prepare,
                    commit_prepared, rollback, search, insert, update, remove, truncate, reset,
                    set_stable, set_oldest, rollback_to_stable)
INTERLAP_METHOD(Target, begin_at, interlap::arguments("0..3"))
INTERLAP_METHOD(Target, commit_at, interlap::arguments("0..3"))
INTERLAP_METHOD(Target, prepare, interlap::arguments("0..3"))
INTERLAP_METHOD(Target, commit_prepared, interlap::arguments("0..3", "0..3"))
INTERLAP_METHOD(Target, search, interlap::arguments("0..1", "0..3"))
INTERLAP_METHOD(Target, insert, interlap::arguments("0..1", "0..3", "0..9"))
INTERLAP_METHOD(Target, update, interlap::arguments("0..1", "0..3", "0..9"))
INTERLAP_METHOD(Target, remove, interlap::arguments("0..1", "0..3"))
INTERLAP_METHOD(Target, truncate, interlap::arguments("0..1", "0..3", "0..3"))
INTERLAP_METHOD(Target, set_stable, interlap::arguments("0..3"))
INTERLAP_METHOD(Target, set_oldest, interlap::arguments("0..3"))
