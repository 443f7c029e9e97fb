//! Finds an adapter by name or path, describes it, and compiles it to a library.
//!
//! - `availability`: Finds the missing headers of an adapter, with advice, without compiling it.
//! - `cache`: Manages the cache folder, for compiled libraries and for the sources inside the
//!   program.
//! - `catalog`: Finds an adapter by its bundled name or by the path of its source.
//! - `compile/`: Compiles an adapter to a shared library, or takes the library from the cache.
//! - `file_state`: Knows a file again whose content was read before, without reading it.
//! - `head`: Parses the comment at the top of an adapter: description, guarantee, bug, flags,
//!   model.
//! - `includes`: Lists the includes of a source, and the headers beside it.
//! - `packages`: A table of the Debian packages that contain well-known headers and libraries.
//! - `relocation`: The build of an adapter that lies elsewhere now: what lay beside it lies there,
//!   too.
//! - `scaffold`: Writes a first adapter for a user's structure from a template, or a first model
//!   (`interlap new`).
//! - `sources`: Writes the sources inside the program to the cache: C headers, bundled adapters,
//!   templates.
//! - `specified`: Writes a first adapter for the structure that a specification in TLA+ is about: a
//!   class with a method for each of its actions (`interlap new --spec`).

pub mod availability;
pub mod cache;
pub mod catalog;
pub mod compile;
pub mod file_state;
pub mod head;
pub mod includes;
pub mod packages;
pub mod relocation;
pub mod scaffold;
pub mod sources;
pub mod specified;
