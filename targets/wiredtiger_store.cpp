// WiredTiger, transactions over a table of integers under snapshot isolation.
//
// A snapshot is taken when the transaction begins, and a commit takes effect when it leaves the
// table of running transactions. A write whose key has an update that the snapshot does not show
// fails with WT_ROLLBACK (first updater wins); the transaction can then only be rolled back. So may
// any other operation (cache pressure); what such a transaction still does is not recorded, and its
// commit answers that it was rolled back.
//
// Guarantee: snapshot isolation.
// Source: WiredTiger reference guide, "Transactional Application Programming".
// Engine: native
// interlap: -lwiredtiger
#include "wiredtiger.hpp"

struct Target : targets::WiredTiger {
    static constexpr auto model = "snapshot";
    using WiredTiger::WiredTiger;

    // A session belongs to one thread; closing it rolls back. `strict` tells absent from present.
    struct Local : targets::Session {
        bool rolled_back = false;
        Local(Target &t, unsigned) : Session(t) {}
    };
    using status = interlap::status;

    // What an operation of the transaction comes to; `no`: the answer that is none of success.
    status outcome(Local &local, int result, int no_result, status no) {
        if (result == 0) return status::ok;
        if (result == no_result) return no;
        if (result != WT_ROLLBACK) check("operation", result);
        local.rolled_back = true;
        return status::failed;
    }

    void begin(Local &local) {
        local.rolled_back = false;
        check("begin_transaction", local.session->begin_transaction(local.session, nullptr));
    }
    status read(Local &local, int64_t key, int64_t &value) {
        if (local.rolled_back) return status::unsupported;
        WT_CURSOR *cursor = local.cursor;
        cursor->set_key(cursor, key);
        int result = cursor->search(cursor);
        if (result == 0) result = cursor->get_value(cursor, &value);
        status found = outcome(local, result, WT_NOTFOUND, status::failed);
        return local.rolled_back ? status::unsupported : found;
    }
    status write(Local &local, int64_t key, int64_t value) {
        if (local.rolled_back) return status::unsupported;
        WT_CURSOR *cursor = local.cursor;
        cursor->set_key(cursor, key);
        cursor->set_value(cursor, value);
        return outcome(local, cursor->insert(cursor), WT_NOTFOUND, status::failed);
    }
    status remove(Local &local, int64_t key) {
        if (local.rolled_back) return status::unsupported;
        WT_CURSOR *cursor = local.strict;
        cursor->set_key(cursor, key);
        return outcome(local, cursor->remove(cursor), WT_NOTFOUND, status::empty);
    }
    bool commit(Local &local) {
        if (local.rolled_back) {
            abort(local);
            return false;
        }
        int result = local.session->commit_transaction(local.session, nullptr);
        if (result != 0 && result != WT_ROLLBACK) check("commit_transaction", result);
        return result == 0; // a failed commit has rolled back
    }
    void abort(Local &local) {
        check("rollback", local.session->rollback_transaction(local.session, nullptr));
    }
};
INTERLAP_TARGET(Target)
