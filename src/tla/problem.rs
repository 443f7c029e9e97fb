//! Why a specification cannot be read or evaluated: what people read, with the place.

use std::fmt;
use std::sync::Arc;

use super::syntax::Place;

/// One pointer, since every value that is evaluated might be one of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem(Box<Located>);

#[derive(Clone, Debug, PartialEq)]
struct Located {
    /// The name of the module.
    module: Option<Arc<str>>,
    place: Option<Place>,
    message: String,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Problem {
        Problem(Box::new(Located { module: None, place: None, message: message.into() }))
    }

    /// The same at this place, unless it has one that is nearer.
    pub fn at(mut self, module: &Arc<str>, place: Place) -> Problem {
        if self.0.place.is_none() {
            (self.0.module, self.0.place) = (Some(module.clone()), Some(place));
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if let (Some(module), Some(place)) = (&self.0.module, self.0.place) {
            write!(f, "{module}.tla:{}:{}: ", place.line, place.column)?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Problem {}

pub type Result<T> = std::result::Result<T, Problem>;

/// `Err` with this message.
pub fn fail<T>(message: impl Into<String>) -> Result<T> {
    Err(Problem::new(message))
}
