//! Modules of the community, as far as they are defined in TLA+ itself: their texts come with the
//! program. What they extend can be used where they are extended.

use std::sync::OnceLock;

use super::parse;
use super::syntax::Module;

const TEXTS: [&str; 12] = [
    include_str!("modules/Apalache.tla"),
    include_str!("modules/BagsExt.tla"),
    include_str!("modules/Combinatorics.tla"),
    include_str!("modules/DyadicRationals.tla"),
    include_str!("modules/FiniteSetsExt.tla"),
    include_str!("modules/Folds.tla"),
    include_str!("modules/Functions.tla"),
    include_str!("modules/Graphs.tla"),
    include_str!("modules/Relation.tla"),
    include_str!("modules/SequencesExt.tla"),
    include_str!("modules/TLCExt.tla"),
    include_str!("modules/UndirectedGraphs.tla"),
];

pub fn modules() -> &'static [Module] {
    static MODULES: OnceLock<Vec<Module>> = OnceLock::new();
    MODULES.get_or_init(|| {
        TEXTS.iter().map(|text| parse::module(text).expect("a test reads them all")).collect()
    })
}

/// The module of this name.
pub fn named(name: &str) -> Option<&'static Module> {
    modules().iter().find(|module| module.name == name)
}
