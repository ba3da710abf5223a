//! Which directory is the project.

use std::fs;
use std::path::Path;

use coatepec::config::Config;
use coatepec::error::Kind;
use coatepec::project::{Project, exactly, find_root};
use tempfile::TempDir;

const ENVIRONMENT: &str = "config/environment.rb";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = tree.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    tree
}

/// An app, and in it an engine with its dummy, and one that names what boots it.
fn monolith() -> TempDir {
    tree(&[
        ("config/application.rb", ""),
        ("config/environment.rb", ""),
        ("app/models/widget.rb", ""),
        ("engines/billing/lib/billing.rb", ""),
        ("engines/billing/spec/dummy/config/application.rb", ""),
        ("engines/billing/spec/dummy/config/environment.rb", ""),
        ("engines/billing/spec/models/invoice_spec.rb", ""),
        ("engines/posts/test/dummy/config/application.rb", ""),
        ("engines/posts/test/dummy/config/environment.rb", ""),
        ("engines/odd/.coatepec.yml", "boot: spec/boot.rb"),
        ("engines/odd/spec/boot.rb", ""),
        ("engines/plain/lib/plain.rb", ""),
        ("engines/broken/.coatepec.yml", "boot: [oops"),
    ])
}

#[test]
fn the_nearest_project_upwards_is_found() {
    let monolith = monolith();
    let table = [
        ("", "", ENVIRONMENT),
        ("app/models", "", ENVIRONMENT),
        ("engines", "", ENVIRONMENT),
        ("engines/plain/lib", "", ENVIRONMENT),
        ("engines/billing", "engines/billing", "spec/dummy/config/environment.rb"),
        (
            "engines/billing/spec/models",
            "engines/billing",
            "spec/dummy/config/environment.rb",
        ),
        (
            "engines/billing/spec/dummy",
            "engines/billing",
            "spec/dummy/config/environment.rb",
        ),
        (
            "engines/billing/spec/dummy/config",
            "engines/billing",
            "spec/dummy/config/environment.rb",
        ),
        (
            "engines/posts/test/dummy",
            "engines/posts",
            "test/dummy/config/environment.rb",
        ),
        ("engines/odd/spec", "engines/odd", "spec/boot.rb"),
    ];
    for (start, root, boot) in table {
        let project = Project::discover(&monolith.path().join(start)).unwrap();
        assert_eq!(
            project.root,
            monolith.path().join(root).canonicalize().unwrap(),
            "{start}"
        );
        assert_eq!(project.boot, Path::new(boot), "{start}");
    }
}

#[test]
fn a_root_is_free_of_links() {
    let monolith = monolith();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    std::os::unix::fs::symlink(monolith.path(), &link).unwrap();
    let root = Project::discover(&link.join("app")).unwrap().root;
    assert_eq!(root, monolith.path().canonicalize().unwrap());
}

#[test]
fn a_broken_configuration_does_not_hide_the_root() {
    let monolith = monolith();
    let broken = monolith.path().join("engines/broken");
    assert_eq!(find_root(&broken).unwrap(), broken.canonicalize().unwrap());
    assert_eq!(Project::discover(&broken).unwrap_err().kind, Kind::InvalidConfig);
}

#[test]
fn where_no_project_is_the_error_says_what_one_looks_like() {
    let empty = tempfile::tempdir().unwrap();
    for error in [
        Project::discover(empty.path()).unwrap_err(),
        Project::at(empty.path(), &Config::default()).unwrap_err(),
        Project::at(&empty.path().join("gone"), &Config::default()).unwrap_err(),
    ] {
        assert_eq!(error.kind, Kind::ProjectNotFound);
        assert!(error.hint.unwrap().contains("config/application.rb"));
    }
}

#[test]
fn boot_of_the_configuration_must_be_a_file_and_wins() {
    let app = tree(&[("config/application.rb", ""), ("spec/boot.rb", "")]);
    let at = |boot: &str| Project::at(app.path(), &Config::parse(&format!("boot: {boot}")).unwrap());
    assert_eq!(at("./spec/boot.rb").unwrap().boot, Path::new("spec/boot.rb"));
    let error = at("spec/gone.rb").unwrap_err();
    assert_eq!(error.kind, Kind::InvalidConfig);
    assert!(error.message.contains("`spec/gone.rb`"), "{error}");
}

#[test]
fn what_is_preloaded_must_be_files_with_their_ending_or_without() {
    let app = tree(&[("config/application.rb", ""), ("spec/more.rb", "")]);
    let at = |file: &str| Project::at(app.path(), &Config::parse(&format!("preload: [{file}]")).unwrap());
    assert!(at("spec/more.rb").is_ok() && at("spec/more").is_ok());
    let error = at("spec/mroe.rb").unwrap_err();
    assert_eq!(error.kind, Kind::InvalidConfig);
    assert!(error.message.contains("`preload` names `spec/mroe.rb`"), "{error}");
}

#[test]
fn a_root_that_is_a_file_is_refused() {
    let app = tree(&[("config/application.rb", "")]);
    let error = exactly(&app.path().join("config/application.rb")).unwrap_err();
    assert_eq!(error.kind, Kind::ProjectNotFound);
    assert!(error.message.contains("is not a directory"), "{error}");
    assert!(exactly(app.path()).is_ok());
}
