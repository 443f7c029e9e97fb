//! A store as people read it: its timestamps, the updates of each key, and who runs.

use std::fmt::{self, Display, Formatter};

use super::store::{Client, Is, Store, Update};

impl Display for Store {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut parts = Vec::new();
        let globals = [("oldest", self.oldest), ("stable", self.stable)];
        for (name, at) in globals.into_iter().filter(|(_, at)| *at > 0) {
            parts.push(format!("{name} {at}"));
        }
        for ((table, key), chain) in self.chains() {
            let updates: Vec<String> = chain.iter().map(update).collect();
            parts.push(format!("[{table}, {key}]: {}", updates.join(" before ")));
        }
        for (session, of) in self.clients().filter(|(_, of)| of.is_open) {
            parts.push(format!("client {session} {}", client(of)));
        }
        f.write_str(if parts.is_empty() { "nothing" } else { "" })?;
        f.write_str(&parts.join("; "))
    }
}

fn update(of: &Update) -> String {
    let value = of.value.map_or("removed".to_string(), |value| value.to_string());
    let at = if of.at > 0 { format!(" at {}", of.at) } else { String::new() };
    match (of.is, of.by) {
        (Is::Committed, _) => format!("{value}{at}"),
        (Is::Undecided, _) => format!("{value} prepared{at}"),
        (Is::Running, Some(session)) => format!("{value} of client {session}"),
        (Is::Running, None) => value,
    }
}

fn client(of: &Client) -> String {
    let failed = if of.failed { ", failed" } else { "" };
    let what = match (of.prepared_at, of.reads_at, of.reads_committed) {
        (0, 0, true) => "reads what is committed".to_string(),
        (0, 0, false) => "reads its snapshot".to_string(),
        (0, at, _) => format!("reads at {at}"),
        (at, ..) => format!("is prepared at {at}"),
    };
    format!("{what}{failed}")
}
