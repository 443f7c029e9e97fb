//! Texts of adapters. Each faulty one is the correct queue with one line changed.

/// A queue with a lock, the base of every other text.
pub const QUEUE: &str = r#"// A queue behind a lock.
#include <interlap.hpp>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <unistd.h>
struct Queue {
    std::mutex lock;
    std::deque<int64_t> values;
    int64_t added = 0;
    bool enqueue(int64_t value) {
        std::lock_guard guard(lock);
        added++;
        /*ENQUEUE*/
        values.push_back(value);
        return true;
    }
    bool dequeue(int64_t &value) {
        std::lock_guard guard(lock);
        if (values.empty()) return false;
        value = values.front();
        /*DEQUEUE*/
        values.pop_front();
        return true;
    }
    /*MEMBER*/
};
INTERLAP_TARGET(Queue)
"#;

/// The queue with `code` in enqueue. `added` counts the enqueues of a round.
pub fn enqueue(code: &str) -> String {
    QUEUE.replace("/*ENQUEUE*/", code)
}

pub fn dequeue(code: &str) -> String {
    QUEUE.replace("/*DEQUEUE*/", code)
}

pub fn member(code: &str) -> String {
    QUEUE.replace("/*MEMBER*/", code)
}

/// A target in C with this description and call function.
pub fn in_c(description: &str, call: &str) -> String {
    format!(
        r#"#include <interlap.h>
#include <stdlib.h>
#include <string.h>
static void *create(const il_config *config) {{ (void)config; return malloc(8); }}
static void destroy(void *structure) {{ free(structure); }}
static void call(void *structure, void *local, il_call *call) {{
    (void)structure; (void)local; (void)call;
    {call}
}}
static const il_operation operations[] = {{
    {{IL_ENQUEUE, 0}}, {{IL_DEQUEUE, 0}}, {{IL_DEQUEUE_BULK, 0}},
}};
static const il_target target = {{
    .abi_version = IL_ABI_VERSION, .struct_size = sizeof(il_target),
    .library = "", .version = "", .model = "fifo",
    .operations = operations, .operation_count = 3,
    .create = create, .destroy = destroy, .call = call,
    {description}
}};
const il_target *interlap_target(void) {{ return &target; }}
"#
    )
}
