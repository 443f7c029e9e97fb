// WiredTiger, a table of integers: every call is a transaction of its own on one key.
//
// Transactions run at snapshot isolation, which makes calls on a single key linearizable:
// - A commit takes effect at the instant the transaction leaves the table of running ones.
// - A write whose key has an update that its snapshot does not show fails with WT_ROLLBACK (first
//   updater wins), also a blind put. So the committed updates of one key form a chain in which each
//   began after the one before it had committed, and a conditional write (insert_if_absent,
//   remove) still finds at its commit what it found when it looked.
// - A snapshot is taken inside the call. The newest update of the key that it shows was, at some
//   instant while the snapshot was taken, the newest one committed: the next one in the chain was
//   not committed yet when the snapshot passed it over.
// Snapshot isolation alone would allow a stale snapshot; WiredTiger takes it when the transaction
// begins. A rolled back attempt had no effect, so the timebox opens anew before each retry.
//
// Guarantee: snapshot isolation, and visibility of a commit to every transaction that begins after
// it returned.
// Source: WiredTiger reference guide, "Transactional Application Programming".
// Engine: native
// interlap: -lwiredtiger
#include "wiredtiger.hpp"

struct Target : targets::WiredTiger {
    static constexpr auto model = "map";
    using WiredTiger::WiredTiger;

    struct Local : targets::Session {
        Local(Target &t, unsigned) : Session(t) {}
    };

    // Runs `attempt` in a transaction until it does not conflict. True if it found what it wanted;
    // false if it met `no`, the one other answer that is not an error.
    template <class Attempt> bool transact(Local &local, int no, Attempt attempt) {
        WT_SESSION *session = local.session;
        for (;;) {
            interlap::box_open();
            check("begin_transaction", session->begin_transaction(session, nullptr));
            int result = attempt();
            if (result == 0 || result == no) {
                int committed = session->commit_transaction(session, nullptr);
                if (committed == 0) return result == 0;
                result = committed; // a failed commit has rolled back
            } else {
                check("rollback", session->rollback_transaction(session, nullptr));
            }
            if (result != WT_ROLLBACK) check("operation", result);
        }
    }

    bool get(Local &local, int64_t key, int64_t &value) {
        return transact(local, WT_NOTFOUND, [&, cursor = local.cursor] {
            cursor->set_key(cursor, key);
            int result = cursor->search(cursor);
            return result == 0 ? cursor->get_value(cursor, &value) : result;
        });
    }
    bool put(Local &local, int64_t key, int64_t value) {
        return transact(local, 0, [=, cursor = local.cursor] {
            cursor->set_key(cursor, key);
            cursor->set_value(cursor, value);
            return cursor->insert(cursor);
        });
    }
    bool insert_if_absent(Local &local, int64_t key, int64_t value) {
        return transact(local, WT_DUPLICATE_KEY, [=, cursor = local.strict] {
            cursor->set_key(cursor, key);
            cursor->set_value(cursor, value);
            return cursor->insert(cursor);
        });
    }
    bool remove(Local &local, int64_t key) {
        return transact(local, WT_NOTFOUND, [=, cursor = local.strict] {
            cursor->set_key(cursor, key);
            return cursor->remove(cursor);
        });
    }
};
INTERLAP_TARGET(Target)
