//! Which tests changed files concern: by what earlier runs executed, by names, by what refers to what. Pure, but for the
//! one file that reads the app.

mod answer;
mod group;
mod mentions;
mod names;
mod save;
mod sources;
mod subject;

pub use answer::{Answer, Because, Changed, Confidence, Known, Records, Row, Runs, Source, Unmatched, answer};
pub use group::{SELECTORS, grouped, roots};
pub use mentions::{Mentions, Offers, plain};
pub use names::{Code, Namesake, directories, namesakes};
pub use save::{Saved, is_edit, saved, surely, there};
pub use sources::{Sources, Texts};
pub use subject::Subject;
