//! Many assertions in one test: all that deviates is told at once, not only the first.

/// Of one deviation: a whole report would hide the others.
const WIDTH: usize = 800;

/// Collects what is not as it should be. [`Deviations::none`] must be called at the end.
#[derive(Default)]
#[must_use]
pub(crate) struct Deviations(Vec<String>);

impl Deviations {
    pub(crate) fn check(&mut self, right: bool, what: impl FnOnce() -> String) {
        if !right {
            self.0.push(what().chars().take(WIDTH).collect());
        }
    }

    pub(crate) fn equal<A: PartialEq<B> + std::fmt::Debug, B: std::fmt::Debug>(
        &mut self,
        what: &str,
        is: A,
        should: B,
    ) {
        self.check(is == should, || format!("{what}: is {is:?}, should be {should:?}"));
    }

    /// Fails the test if there was any.
    pub(crate) fn none(self) {
        assert!(self.0.is_empty(), "{} deviations:\n{}", self.0.len(), self.0.join("\n"));
    }
}
