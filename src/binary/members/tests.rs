//! Members of compiled objects are found in their debugging information.

use super::*;
use std::process::Command;

const SOURCE: &str = r#"
        #include <array>
        #include <atomic>
        #include <deque>
        #include <list>
        #include <map>
        #include <memory>
        #include <memory_resource>
        #include <mutex>
        #include <optional>
        #include <string>
        #include <unordered_map>
        #include <vector>
        namespace interlap { namespace detail {
        template <class T> struct functions { static T *create() { return new T(); } };
        } }
        struct Node;
        template <class Mark, class T> struct Marked { union { T *pointer; long bits; }; };
        struct Apart { virtual ~Apart() {} long far; };
        struct Counted { static int all; long count; };
        struct Queue : Counted {
            struct Slot { long value; std::atomic<long> turn; };
            std::atomic<Node *> head;
            std::atomic<Marked<short, Node>> tail;
            std::unique_ptr<Slot[]> more;
            Slot slots[2][3];
            union { int number; float real; };
            const volatile short last = 1;
            int one : 3, two : 5;
            std::vector<Slot> cells;
            std::pmr::vector<Slot> pooled;
        };
        struct Remote : virtual Apart { long near; };
        Remote remote;
        struct Nothing {};
        struct Standard : Nothing {
            std::shared_ptr<Node> shared;
            std::optional<long> maybe;
            std::map<long, Queue::Slot> sorted;
            std::array<Queue::Slot, 2> fixed;
            std::string text;
            std::list<long> line;
            std::mutex lock;
            std::unordered_map<long, Queue::Slot> table;
            std::deque<Queue::Slot> ring;
        };
        std::shared_ptr<Standard> made() { return std::make_shared<Standard>(); }
        void fill(Standard &all) { all.sorted[7].value = 1; all.line.push_back(2);
            all.table[7].value = 1; all.ring.emplace_back(); }
        struct Node { long value; Node *next; };
        extern "C" void *make() { return interlap::detail::functions<Queue>::create(); }
        Node node;
    "#;

/// With the debugging information that targets are compiled with.
fn compiled(folder: &Path) -> Types {
    let (source, library) = (folder.join("queue.cpp"), folder.join("queue.so"));
    std::fs::write(&source, SOURCE).expect("room");
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-g", "-O1", "-shared", "-fPIC", "-o"]);
    assert!(compiler.arg(&library).arg(&source).status().expect("g++").success());
    Types::load(&library)
}

#[test]
fn members_are_found_by_their_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let queue = types.structure().expect("of interlap.hpp");
    let name = |at| types.find(queue, at, 1).map(|part| part.name);
    for (at, expected) in [
        (0, "count"),
        (4, "count+4"),
        (8, "head"),
        (16, "tail"),
        (24, "more"),
        (32, "slots[0].value"),
        (32 + 5 * 16 + 8, "slots[5].turn"),
        (132, "last"),
        (136, "cells.begin"),
        (144, "cells.end"),
        (160, "pooled.resource"),
        (168, "pooled.begin"),
    ] {
        assert_eq!(name(at).as_deref(), Some(expected), "{at}");
    }
    // A union without a name, bits that share a byte, nothing, and beyond the end.
    assert_eq!([128, 134, 135, 200].map(name), [None, None, None, None]);
    assert_eq!(types.bytes(queue), 192);
}

#[test]
fn a_virtual_base_is_not_taken_to_be_at_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let remote = types.all.iter().find(|(_, ty)| ty.name == "Remote" && ty.bytes > 0);
    let remote = TypeId(*remote.expect("a class").0);
    let near = types.find(remote, 8, 1).expect("a member").name;
    assert_eq!(near, "near");
    assert_eq!(types.find(remote, 24, 1), None);
}

#[test]
fn pointers_are_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let queue = types.structure().expect("of interlap.hpp");
    let target = |at| types.find(queue, at, 1).expect("a member").points_to;
    let node = target(8).expect("a node");
    assert!(!node.is_array && types.bytes(node.of) == 16);
    assert_eq!(target(16), Some(node), "a class of one pointer");
    let next = types.find(node.of, 8, 1).expect("a member");
    assert_eq!((next.name.as_str(), next.points_to), ("next", Some(node)));
    let slots = target(24).expect("slots");
    assert!(slots.is_array);
    assert_eq!(types.find(slots.of, 8, 1).expect("a member").name, "turn");
    assert_eq!([136, 168].map(target), [Some(slots); 2], "elements of a vector");
    // Not where the vector ends.
    assert_eq!([0, 32, 144].map(target), [None; 3]);
}

/// A wider access than the member at its first byte uses what holds both.
#[test]
fn members_hold_all_bytes_of_an_access() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let standard = named(&types, "Standard");
    let is_text = |at: &u64| types.find(standard, *at, 8).is_some_and(|it| it.name == "text.data");
    let at = (0..types.bytes(standard)).step_by(8).find(is_text).expect("a string");
    let name = |at, bytes| types.find(standard, at, bytes).map(|part| part.name);
    for (offset, bytes, expected) in [
        (16, 1, Some("text.local_buf[0]")),
        (16, 8, Some("text.local_buf")),
        (24, 8, Some("text.local_buf+8")),
        (24, 4, Some("text.local_buf+8")),
        (0, 4, Some("text.data")),
        (8, 8, Some("text.size")),
    ] {
        assert_eq!(name(at + offset, bytes).as_deref(), expected, "{offset} {bytes}");
    }
    let queue = types.structure().expect("of interlap.hpp");
    let name = |at, bytes| types.find(queue, at, bytes).map(|part| part.name);
    // A short value in eight bytes, of which others hold the rest.
    assert_eq!((name(132, 2).as_deref(), name(132, 4)), (Some("last"), None));
}

fn named(types: &Types, name: &str) -> TypeId {
    let of = |(_, ty): &(&usize, &Type)| ty.name == name && ty.bytes > 0;
    TypeId(*types.all.iter().find(of).expect("a class").0)
}

#[test]
fn members_of_the_standard_library_have_the_names_that_users_know() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let standard = named(&types, "Standard");
    let names: Vec<Option<String>> = (0..types.bytes(standard) / 8)
        .map(|word| types.find(standard, 8 * word, 1).map(|part| part.name))
        .collect();
    let names: Vec<&str> = names.iter().map(|name| name.as_deref().unwrap_or("-")).collect();
    let expected = [
        ["shared", "shared.control_block", "maybe", "maybe.has_value"].as_slice(),
        &["sorted.key_compare", "sorted.color", "sorted.root", "sorted.leftmost"],
        &["sorted.rightmost", "sorted.size"],
        &["fixed[0].value", "fixed[0].turn", "fixed[1].value", "fixed[1].turn"],
        &["text.data", "text.size", "text.local_buf[0]", "text.local_buf[8]"],
        &["line.next", "line.prev", "line.size"],
        &["lock", "lock+8", "lock+16", "lock+24", "lock+32"],
        &["table.buckets", "table.bucket_count", "table.first", "table.size"],
        &["table.rehash_policy.max_load_factor", "table.rehash_policy.next_resize"],
        &["table.single_bucket", "ring.map", "ring.map_size"],
        &["ring.begin.cur", "ring.begin.first", "ring.begin.last", "ring.begin"],
        &["ring.end.cur", "ring.end.first", "ring.end.last", "ring.end"],
    ]
    .concat();
    assert_eq!(names[..4], expected[..4]);
    assert_eq!(names[5..], expected[5..]);
}

/// Containers point to a base class of the node, which lacks the value.
#[test]
fn nodes_are_recognized_by_their_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let standard = named(&types, "Standard");
    let node = |at, bytes| {
        let base = types.find(standard, at, 1).expect("a member").points_to.expect("a node");
        types.fitting(base, bytes).of
    };
    let name = |of, at| types.find(of, at, 1).map(|part| part.name).unwrap_or_default();
    // Colour and three pointers, then the key and its value.
    let sorted = node(48, 56);
    assert_eq!(types.bytes(sorted), 56);
    assert_eq!(
        [16, 32, 40, 48].map(|at| name(sorted, at)),
        ["left", "first", "second.value", "second.turn"]
    );
    let counted = node(8, 16 + types.bytes(standard));
    assert_eq!([8, 12].map(|at| name(counted, at)), ["use_count", "weak_count"]);
    assert_eq!(name(counted, 32), "maybe", "behind the counts");
    // No node has this size, so the type of the pointer counts.
    assert_eq!(types.bytes(node(48, 57)), 32);
}

/// Hash tables and deques find their elements by arrays of pointers.
#[test]
fn pointers_inside_a_container_are_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let types = compiled(folder.path());
    let standard = named(&types, "Standard");
    let index = |member: &str| {
        let parts = (0..types.bytes(standard)).step_by(8).map(|at| types.find(standard, at, 1));
        let part = parts.flatten().find(|part| part.name == member).expect(member);
        let element = types.element(part.points_to.expect("pointers"));
        assert_eq!(element.container.as_deref(), Some(""), "{member}");
        element.points_to.expect("to what is held")
    };
    let (node, chunk) = (index("table.buckets"), index("ring.map"));
    assert_eq!((node.is_array, chunk.is_array), (false, true));
    let name = |of, at| types.find(of, at, 1).map(|part| part.name);
    assert_eq!(name(types.fitting(node, 32).of, 16).as_deref(), Some("second.value"));
    assert_eq!(name(chunk.of, 8).as_deref(), Some("turn"));
    // Those of a vector are the user's.
    let elements = Pointee { is_array: true, ..Pointee::one(node.of) };
    assert_eq!(types.element(elements).container, None);
}

#[test]
fn without_debugging_information_nothing_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    assert_eq!(Types::load(&folder.path().join("none.so")).structure(), None);
    let none = Types::load(&std::env::current_exe().expect("this test"));
    assert_eq!(none.structure(), None);
}
