//! From a name or a source file to a loaded target.
//!
//! - `availability`: Whether an adapter can be compiled here, told without compiling it.
//! - `cache`: The cache folder.
//! - `catalog`: What a user names on the command line.
//! - `compile/`: From an adapter's source to a shared library.
//! - `head`: The head of an adapter.
//! - `includes`: What an adapter includes.
//! - `packages`: Which Debian package holds a header or a library.
//! - `scaffold`: A first adapter for a user's own structure (`interlap new`).
//! - `sources`: The sources that travel inside the program: the contract with C, the bundled
//!   adapters, the templates.

pub mod availability;
pub mod cache;
pub mod catalog;
pub mod compile;
pub mod head;
pub mod includes;
pub mod packages;
pub mod scaffold;
pub mod sources;
