// A WiredTiger database, one with one table of integers, and a session of a thread.
#ifndef INTERLAP_TARGETS_WIREDTIGER_HPP
#define INTERLAP_TARGETS_WIREDTIGER_HPP

#include <filesystem>
#include <interlap.hpp>
#include <wiredtiger.h>

#define TEXT(major, minor, patch) #major "." #minor "." #patch
#define VERSION(major, minor, patch) TEXT(major, minor, patch)

namespace targets {

struct Database {
    static constexpr auto library = "WiredTiger";
    static constexpr auto version = VERSION(WIREDTIGER_VERSION_MAJOR, WIREDTIGER_VERSION_MINOR,
                                            WIREDTIGER_VERSION_PATCH);

    const il_host *host;
    std::filesystem::path directory;
    WT_CONNECTION *connection = nullptr;
    // Says nothing of calls that are refused.
    WT_EVENT_HANDLER quiet = {
        [](WT_EVENT_HANDLER *, WT_SESSION *, int, const char *) { return 0; },
        [](WT_EVENT_HANDLER *, WT_SESSION *, const char *) { return 0; }, nullptr, nullptr};

    Database(const interlap::config &config, const char *options)
        : host(config.host),
          directory(std::filesystem::path(config.directory) / std::to_string(config.round)) {
        std::error_code error;
        std::filesystem::create_directories(directory, error);
        check("wiredtiger_open", wiredtiger_open(directory.c_str(), &quiet, options, &connection));
    }
    ~Database() {
        check("close", connection->close(connection, nullptr));
        std::error_code ignored;
        std::filesystem::remove_all(directory, ignored);
    }

    void create(const char *table, const char *options) {
        WT_SESSION *session = nullptr;
        check("open_session", connection->open_session(connection, nullptr, nullptr, &session));
        check("create", session->create(session, table, options));
        check("close", session->close(session, nullptr));
    }
    void check(const char *what, int error) const {
        if (error == 0) return;
        std::string why = std::string("WiredTiger: ") + what + ": " + wiredtiger_strerror(error);
        il_error(host, why.c_str());
    }
};

struct WiredTiger : Database {
    static constexpr auto table = "table:t";

    explicit WiredTiger(const interlap::config &config)
        : Database(config, "create,cache_size=64MB,session_max=128") {
        create(table, "key_format=q,value_format=q");
    }
};

// A session belongs to one thread. `cursor` overwrites; `strict` tells absent from present.
struct Session {
    WT_SESSION *session = nullptr;
    WT_CURSOR *cursor = nullptr;
    WT_CURSOR *strict = nullptr;

    explicit Session(WiredTiger &t) {
        WT_CONNECTION *c = t.connection;
        t.check("open_session", c->open_session(c, nullptr, "isolation=snapshot", &session));
        t.check("open_cursor",
                session->open_cursor(session, t.table, nullptr, nullptr, &cursor));
        t.check("open_cursor",
                session->open_cursor(session, t.table, nullptr, "overwrite=false", &strict));
    }
    ~Session() { session->close(session, nullptr); }
};

} // namespace targets
#endif
