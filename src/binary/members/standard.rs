//! What lies in objects of the C++ standard library, in the words of those who use it: names of
//! libstdc++'s members come in, `begin`, `use_count`, `root` go out. Knows no types.

/// Objects that are told as a whole.
pub fn is_opaque(class: &str) -> bool {
    let is_shared =
        class.starts_with("atomic<std::shared_ptr<") || class.starts_with("atomic<std::weak_ptr<");
    let is_atomic = class.starts_with("atomic") || class.starts_with("__atomic");
    let waits = ["mutex", "condition_variable", "semaphore", "thread", "once_flag"];
    is_atomic && !is_shared
        || waits.iter().any(|word| class.contains(word) && !class.contains('<'))
        || class.starts_with("counting_semaphore<")
}

/// Holds values, or is a node of what does.
pub fn is_container(class: &str) -> bool {
    let kinds = ["vector<", "list<", "forward_list<", "deque<", "basic_string<", "map<", "set<"];
    let more = ["multimap<", "multiset<", "unordered_", "queue<", "priority_queue<", "stack<"];
    let is = |kind: &&str| class.starts_with(kind);
    kinds.iter().chain(&more).any(is) || is_node(class)
}

/// A node of a list, a tree or a table.
pub fn is_node(class: &str) -> bool {
    ["_List_node", "_Rb_tree_node", "_Hash_node"].iter().any(|kind| class.starts_with(kind))
}

/// A member that points to pointers, by which a table or a deque finds what it holds.
pub fn is_index(member: &str) -> bool {
    matches!(member, "_M_buckets" | "_M_map")
}

/// Room for an object of the class's first argument.
pub fn is_room(class: &str) -> bool {
    class.starts_with("__aligned_membuf<") || class.starts_with("__aligned_buffer<")
}

/// A member of that name, in a member called `outer`; none where it only holds what is meant.
pub fn called<'a>(member: &'a str, outer: &str) -> Option<&'a str> {
    let name = match (member, outer) {
        ("_M_parent", "_M_header") => "root",
        ("_M_left", "_M_header") => "leftmost",
        ("_M_right", "_M_header") => "rightmost",
        ("_M_nxt", "_M_before_begin") => "first",
        ("_M_impl" | "_M_t" | "_M_h" | "_M_node" | "_M_header" | "_M_before_begin", _) => "",
        ("_M_ptr" | "_M_refcount" | "_M_head_impl" | "_M_dataplus" | "_M_elems" | "c", _) => "",
        ("_M_payload" | "_M_value" | "_M_storage", _) => "",
        ("_M_pi" | "_M_val", _) => "control_block",
        ("_M_start", _) => "begin",
        ("_M_finish", _) => "end",
        ("_M_p", _) => "data",
        ("_M_engaged", _) => "has_value",
        ("_M_nxt", _) => "next",
        ("_M_string_length" | "_M_node_count" | "_M_element_count", _) => "size",
        (other, _) => other.trim_start_matches("_M_").trim_start_matches('_'),
    };
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_holds_other_things_has_no_name() {
        let path = |members: &[&str]| -> Vec<String> {
            let outer = std::iter::once(&"").chain(members);
            let names = members.iter().zip(outer).filter_map(|(name, outer)| called(name, outer));
            names.map(String::from).collect()
        };
        assert_eq!(path(&["_M_t", "_M_impl", "_M_header", "_M_parent"]), ["root"]);
        assert_eq!(path(&["_M_parent"]), ["parent"]);
        assert_eq!(path(&["_M_refcount", "_M_pi"]), ["control_block"]);
        assert_eq!(path(&["first"]), ["first"]);
    }

    #[test]
    fn locks_and_atomics_are_whole() {
        for whole in ["mutex", "shared_mutex", "condition_variable", "atomic<int>", "atomic_flag"] {
            assert!(is_opaque(whole), "{whole}");
        }
        for open in ["vector<std::mutex, std::allocator<std::mutex> >", "pair<int, int>"] {
            assert!(!is_opaque(open), "{open}");
        }
        assert!(!is_opaque("atomic<std::shared_ptr<Node> >"));
    }
}
