//! The programs in `examples/` say themselves what they must find, and what they must not.

#[path = "../../examples/porcupine.rs"]
mod porcupine;
#[path = "../../examples/replicated_register.rs"]
mod replicated_register;
#[path = "../../examples/store_with_retries.rs"]
mod store_with_retries;
#[path = "../../examples/stream_with_fencing.rs"]
mod stream_with_fencing;

#[test]
fn mistakes_are_found_and_what_is_right_is_not_accused() {
    porcupine::main();
    replicated_register::main();
    store_with_retries::main();
    stream_with_fencing::main();
}
