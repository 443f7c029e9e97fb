//! Shows a history and its verdict to people: in sentences, as a timeline, as a page.
//!
//! - `checked`: A history with its verdict, shown as text and as a page.
//! - `explanation/`: Makes sentences of the reasons why no order explains a history.
//! - `judged`: A history of a user's own operations with its verdict, shown as text and as a page.
//! - `page/`: Renders the page of a finding or a history: one HTML file that needs no network.
//! - `timeline`: Draws operations as timeboxes, a row for each thread, with a legend.
//! - `versions`: The versions of what transactions contradict each other about: who wrote each, and
//!   who read it.

pub mod checked;
pub mod explanation;
pub mod judged;
pub mod page;
pub mod timeline;
pub mod versions;
