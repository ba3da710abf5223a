//! What was named in the shell, in the calls that it takes: a run is one framework's, and so is a list.

use std::path::Path;

use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::project::everything::{apart, everything};
use crate::project::{Refusal, Rules};

/// The selectors of each call; all tests where nothing was named. What can't be run is left to the server, which says why.
pub(super) fn parts(root: &Path, named: &[String]) -> Result<Vec<Vec<String>>> {
    let config = Config::load(root);
    if !named.is_empty() {
        let rules = Rules::new(&config.unwrap_or_default().spec_roots);
        return Ok(apart(root, &rules, named));
    }
    let refused =
        |refusal: Refusal| Error::new(Kind::InvalidSelector, refusal.reason).hint("name files or directories");
    let parts = everything(root, &Rules::new(&config?.spec_roots)).map_err(refused)?;
    match parts.is_empty() {
        true => Err(
            Error::new(Kind::InvalidArguments, "there are no specs and no tests here")
                .hint("name files or directories"),
        ),
        false => Ok(parts),
    }
}
