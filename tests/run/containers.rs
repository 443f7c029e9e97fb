//! Lists and trees of the C++ library under control: their accesses are reported, and they behave
//! as the library's own.

use interlap::report::words::{CONFIRMED, NOTHING_FOUND};

use super::tool::Tool;

/// Random operations on lists and trees, with a check of the whole structure after each.
const CHECKED: &str = r#"// Lists and trees of the C++ library, checked.
#include <interlap.hpp>
#include <algorithm>
#include <cstdlib>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <vector>
using Tree = std::_Rb_tree<int64_t, int64_t, std::_Identity<int64_t>, std::less<int64_t>>;
static void check(bool right) { if (!right) abort(); }
struct Set {
    std::mutex lock;
    Tree tree;
    std::vector<int64_t> sorted;
    std::list<int64_t> list, other;
    std::vector<int64_t> in_list, in_other;
    uint64_t seed = 1;
    uint64_t below(uint64_t end) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        return (seed >> 33) % end;
    }
    void check_trees() {
        check(tree.__rb_verify());
        check(std::equal(tree.begin(), tree.end(), sorted.begin(), sorted.end()));
        check(std::equal(tree.rbegin(), tree.rend(), sorted.rbegin(), sorted.rend()));
    }
    void check_lists() {
        check(std::equal(list.begin(), list.end(), in_list.begin(), in_list.end()));
        check(std::equal(list.rbegin(), list.rend(), in_list.rbegin(), in_list.rend()));
        check(std::equal(other.rbegin(), other.rend(), in_other.rbegin(), in_other.rend()));
    }
    void work_on_lists(int64_t key) {
        size_t at = below(in_list.size() + 1), end = at + below(in_list.size() + 1 - at);
        auto first = std::next(list.begin(), at), last = std::next(list.begin(), end);
        auto from = in_list.begin() + at, to = in_list.begin() + end;
        switch (below(7)) {
        case 0: list.insert(first, key); in_list.insert(from, key); break;
        case 1: list.erase(first, last); in_list.erase(from, to); break;
        case 2: list.reverse(); std::reverse(in_list.begin(), in_list.end()); break;
        case 3: list.swap(other); in_list.swap(in_other); break;
        case 4: list.sort(); std::sort(in_list.begin(), in_list.end()); break;
        case 5:
            other.splice(other.begin(), list, first, last);
            in_other.insert(in_other.begin(), from, to);
            in_list.erase(from, to);
            break;
        case 6: list.push_back(key); in_list.push_back(key); break;
        }
        check_lists();
    }
    bool insert(int64_t key) {
        std::lock_guard guard(lock);
        work_on_lists(key);
        auto at = std::lower_bound(sorted.begin(), sorted.end(), key);
        bool is_new = at == sorted.end() || *at != key;
        if (is_new) sorted.insert(at, key);
        check(tree._M_insert_unique(key).second == is_new);
        check_trees();
        return is_new;
    }
    bool remove(int64_t key) {
        std::lock_guard guard(lock);
        work_on_lists(key);
        auto at = std::lower_bound(sorted.begin(), sorted.end(), key);
        bool was_there = at != sorted.end() && *at == key;
        if (was_there) sorted.erase(at);
        check(tree.erase(key) == was_there);
        check_trees();
        return was_there;
    }
    bool contains(int64_t key) {
        std::lock_guard guard(lock);
        return tree.find(key) != tree.end();
    }
};
INTERLAP_TARGET(Set)
"#;

/// A shared lock around a change of a list.
const LRU: &str = r#"// A map in order of use.
#include <interlap.hpp>
#include <cstdlib>
#include <list>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
struct Lru {
    using Entry = std::pair<int64_t, int64_t>;
    std::shared_mutex lock;
    std::list<Entry> order;
    std::unordered_map<int64_t, std::list<Entry>::iterator> index;
    bool get(int64_t key, int64_t &value) {
        std::shared_lock guard(lock);
        auto at = index.find(key);
        if (at == index.end()) return false;
        value = at->second->second;
        order.splice(order.begin(), order, at->second);  // BUG: others may do so, too
        return true;
    }
    void put(int64_t key, int64_t value) {
        std::unique_lock guard(lock);
        auto at = index.find(key);
        if (at != index.end()) {
            at->second->second = value;
            return;
        }
        order.emplace_front(key, value);
        index[key] = order.begin();
    }
    bool remove(int64_t key) {
        std::unique_lock guard(lock);
        auto at = index.find(key);
        if (at == index.end()) return false;
        order.erase(at->second);
        index.erase(at);
        return true;
    }
    ~Lru() {
        size_t count = 0;
        for (auto &entry : order) count += entry.first >= 0;
        if (count != index.size()) abort();
    }
};
INTERLAP_TARGET(Lru)
"#;

/// An iterator that is advanced without the lock.
const TREE: &str = r#"// A set whose lock is let go before an iterator moves on.
#include <interlap.hpp>
#include <mutex>
#include <set>
struct Set {
    std::mutex lock;
    std::set<int64_t> values;
    bool insert(int64_t key) { std::lock_guard guard(lock); return values.insert(key).second; }
    bool remove(int64_t key) { std::lock_guard guard(lock); return values.erase(key); }
    bool contains(int64_t key) {
        std::unique_lock guard(lock);
        auto at = values.find(key);
        if (at == values.end()) return false;
        guard.unlock();
        return std::next(at) != at;  // BUG: it may be removed by now
    }
};
INTERLAP_TARGET(Set)
"#;

#[test]
fn lists_and_trees_behave_as_the_librarys_own() {
    let tool = Tool::new();
    let run = tool.fuzz_text("checked.cpp", CHECKED).controlled().calls(200).rounds(400);
    run.with("--keys 64").expect(0, &[NOTHING_FOUND]);
}

/// Without hooks in the library's functions, the race in the list would not be found, and that in
/// the tree only as a crash.
#[test]
fn races_in_lists_and_trees_are_found() {
    let freed = ["use after free", "Set::contains at tree.cpp:15"];
    for (name, adapter, words) in [("lru.cpp", LRU, &[][..]), ("tree.cpp", TREE, &freed)] {
        let tool = Tool::new();
        // With this seed neither finding is a hang, which takes ten seconds to notice.
        let run = tool.fuzz(tool.adapter(name, adapter)).seed(2).controlled().jobs(1).findings(1);
        run.rounds(100_000).with("--races=off").expect(1, &[CONFIRMED]).expect(1, words);
        let finding = tool.only_finding();
        tool.explain(finding).with("--all").expect(1, &["BUG: "]);
    }
}
