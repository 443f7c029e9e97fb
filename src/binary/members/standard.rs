//! Translates the names of libstdc++'s members to words that its users know: `begin`, `use_count`,
//! `root`. Decides by names alone.

/// Whether its members are not named one by one: locks, threads and most atomics.
pub fn is_opaque(class: &str) -> bool {
    let is_shared =
        class.starts_with("atomic<std::shared_ptr<") || class.starts_with("atomic<std::weak_ptr<");
    let is_atomic = class.starts_with("atomic") || class.starts_with("__atomic");
    let waits = ["mutex", "condition_variable", "semaphore", "thread", "once_flag"];
    is_atomic && !is_shared
        || waits.iter().any(|word| class.contains(word) && !class.contains('<'))
        || class.starts_with("counting_semaphore<")
}

/// Whether it is a container, or a node of one.
pub fn is_container(class: &str) -> bool {
    let kinds = ["vector<", "list<", "forward_list<", "deque<", "basic_string<", "map<", "set<"];
    let more = ["multimap<", "multiset<", "unordered_", "queue<", "priority_queue<", "stack<"];
    let is = |kind: &&str| class.starts_with(kind);
    kinds.iter().chain(&more).any(is) || is_node(class)
}

/// Whether it is a node of a list, a tree or a hash table.
pub fn is_node(class: &str) -> bool {
    ["_List_node", "_Rb_tree_node", "_Hash_node"].iter().any(|kind| class.starts_with(kind))
}

/// Whether it points to an array of pointers to what a hash table or a deque holds.
pub fn is_index(member: &str) -> bool {
    matches!(member, "_M_buckets" | "_M_map")
}

/// Whether it is storage for an object of the class's first template argument.
pub fn is_storage(class: &str) -> bool {
    class.starts_with("__aligned_membuf<") || class.starts_with("__aligned_buffer<")
}

/// The users' name of a member of the member `outer`; none if it only wraps another member.
pub fn user_name<'a>(member: &'a str, outer: &str) -> Option<&'a str> {
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
    fn wrapping_members_have_no_name() {
        let path = |members: &[&str]| -> Vec<String> {
            let outer = std::iter::once(&"").chain(members);
            let names =
                members.iter().zip(outer).filter_map(|(name, outer)| user_name(name, outer));
            names.map(String::from).collect()
        };
        assert_eq!(path(&["_M_t", "_M_impl", "_M_header", "_M_parent"]), ["root"]);
        assert_eq!(path(&["_M_parent"]), ["parent"]);
        assert_eq!(path(&["_M_refcount", "_M_pi"]), ["control_block"]);
        assert_eq!(path(&["first"]), ["first"]);
    }

    #[test]
    fn locks_and_atomics_are_opaque() {
        for whole in ["mutex", "shared_mutex", "condition_variable", "atomic<int>", "atomic_flag"] {
            assert!(is_opaque(whole), "{whole}");
        }
        for open in ["vector<std::mutex, std::allocator<std::mutex> >", "pair<int, int>"] {
            assert!(!is_opaque(open), "{open}");
        }
        assert!(!is_opaque("atomic<std::shared_ptr<Node> >"));
    }
}
