//! Asks whether a violation is meant that a weaker promise allows.

use crate::core::words::quoted;
use crate::model::{Kind, Spec};

/// Most models that are named.
const MODELS_MAX: usize = 2;

/// What to ask where these weaker promises allow a history.
pub fn question(weaker: &[Spec]) -> Option<String> {
    let (models, orders): (Vec<&Spec>, Vec<&Spec>) =
        weaker.iter().partition(|model| model.is_linearizable());
    let shown = |model: &&Spec| match model.kind {
        Kind::Own if model.program.is_none() => format!("`Consistency::{:?}`", model.consistency),
        _ => format!("`--model {}`", quoted(&model.to_string())),
    };
    let models: Vec<String> = models.iter().take(MODELS_MAX).map(shown).collect();
    let orders: Vec<String> = orders.iter().map(shown).collect();
    let order = "some order explains it, but none in which what returned before a call comes first";
    let answer = match (&models[..], &orders[..]) {
        ([], []) => return None,
        ([], orders) => {
            let orders = orders.join(" or ");
            format!("Few structures promise so little that {orders} allows it: {order}.")
        }
        (models, []) => format!("{} allows it.", models.join(" or ")),
        (models, orders) => {
            let (models, orders) = (models.join(" or "), orders.join(" or "));
            format!("{models} allows it. (So does {orders}, but few structures promise so little.)")
        }
    };
    Some(format!("Is this meant? {answer}"))
}
