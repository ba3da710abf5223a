//! What a changed file throws away.

use std::path::{Path, PathBuf};

use coatepec::project::changes::{Change, ChangeKind, Snapshot, Target};
use coatepec::worker::freshness::{Effect, Watch};
use coatepec::worker::protocol::{Inputs, Listing, Traces, Versions};
use coatepec::worker::zygote::Loaded;

const ROOT: &str = "/srv/shop";

fn absolute(path: &str) -> PathBuf {
    Path::new(ROOT).join(path)
}

fn all(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(|path| absolute(path)).collect()
}

/// An app with a pack, an engine and a gem of its own, booted.
fn inputs() -> Inputs {
    Inputs {
        whole: false,
        asks_tables: false,
        app_features: all(&["lib/pricing/discount.rb", "gems/tariffs/lib/tariffs/zone.rb"]),
        reload_dirs: all(&[
            "app/models",
            "app/controllers",
            "packs/billing/app/models",
            "engines/blog/app/models",
        ]),
        reload_files: all(&[
            "config/routes.rb",
            "engines/blog/config/routes.rb",
            "lib/locales/de.yml",
        ]),
        features: all(&[
            "config/application.rb",
            "config/initializers/money.rb",
            "lib/tax.rb",
            "lib/shop/rates.rb",
            "gems/money_math/lib/money_math.rb",
            "engines/blog/lib/blog/engine.rb",
            "/opt/shared/lib/shared.rb",
        ]),
        config_dirs: all(&["config", "engines/blog/config"]),
        gemfiles: all(&["Gemfile", "Gemfile.lock", "Gemfile.local", "/opt/shared/Gemfile"]),
        code_dirs: all(&["gems/tariffs/lib"]),
        vouched: Vec::new(),
        boot_traces: Traces {
            dirs: all(&["data/countries"]),
            ..traces(
                &["data/rates.csv", "NOTICE.md", "data/both.json"],
                &[("plugins", "*/init.rb"), ("app", "extras")],
            )
        },
        class_traces: traces(&["app/models/colours.txt"], &[("app/templates", "**/*.erb")]),
    }
}

fn watch() -> Watch {
    let mut watch = Watch::new(Path::new(ROOT), inputs(), all(&["spec", "engines/blog/spec"]));
    watch.loaded_by_zygote(&loaded(
        &[
            "spec/rails_helper.rb",
            "lib/tax.rb",
            "lib/testing/clock.rb",
            "/opt/shared/lib/matchers.rb",
        ],
        traces(&["spec/seeds.yml", "data/both.json"], &[("lib/tasks", "**/*.rake")]),
    ));
    watch
}

fn loaded(features: &[&str], traces: Traces) -> Loaded {
    Loaded {
        seconds: 1.0,
        features: all(features),
        traces,
        versions: Versions::default(),
        outdated: false,
    }
}

fn traces(files: &[&str], listings: &[(&str, &str)]) -> Traces {
    let listing = |(dir, pattern): &(&str, &str)| Listing {
        dir: absolute(dir),
        pattern: (*pattern).to_owned(),
    };
    Traces {
        files: all(files),
        dirs: Vec::new(),
        listings: listings.iter().map(listing).collect(),
        written: Vec::new(),
    }
}

fn change(path: &Path, kind: ChangeKind) -> Change {
    Change {
        path: path.to_owned(),
        kind,
    }
}

fn modified(path: &Path) -> Change {
    change(path, ChangeKind::Modified)
}

fn check(effect: Effect, paths: &[&str]) {
    for path in paths {
        assert_eq!(watch().effect(&modified(&absolute(path))), effect, "{path}");
    }
}

#[test]
fn what_only_runs_load_costs_nothing() {
    check(
        Effect::Nothing,
        &[
            "spec/models/cart_spec.rb",
            "engines/blog/spec/post_spec.rb",
            "spec/fixtures/files/cart.json",
            "app/models/cart.yml",
            "app/views/carts/show.html.erb",
            "README.md",
            "log/test.log",
            "lib/templates/new.rb",
            "lib/tasks/shop.rake",
            "sub/Gemfile.lock.orig",
            "sub/.env",
            "/opt/elsewhere/lib/x.rb",
            "db/test.sqlite3",
            "db/schema.rb.orig",
            // Files of editors.
            "config/.database.yml.swp",
            "config/database.yml~",
            "config/.#routes.rb",
            "config/#routes.rb#",
            "config/4913",
            "config/initializers/money.rb___jb_tmp___",
            ".env.swp",
            "Gemfile~",
        ],
    );
}

#[test]
fn what_the_zygote_loaded_costs_a_zygote() {
    check(
        Effect::NewZygote,
        &[
            "spec/rails_helper.rb",
            "spec/spec_helper.rb",
            "spec/support/login.rb",
            "spec/factories/carts.rb",
            "engines/blog/spec/support/new.rb",
            "lib/testing/clock.rb",
            "/opt/shared/lib/matchers.rb",
            ".rspec",
            ".rspec-local",
        ],
    );
}

#[test]
fn the_schema_costs_a_zygote() {
    check(
        Effect::NewZygote,
        &[
            "db/schema.rb",
            "db/structure.sql",
            "db/migrate/20260101000000_add_carts.rb",
            "db/seeds.rb",
        ],
    );
}

#[test]
fn what_rails_can_load_again_costs_a_reload() {
    check(
        Effect::Reload,
        &[
            "app/models/cart.rb",
            "app/models/shop/new_one.rb",
            "app/controllers/carts_controller.rb",
            "packs/billing/app/models/invoice.rb",
            "engines/blog/app/models/post.rb",
            "config/routes.rb",
            "config/routes/api.rb",
            "engines/blog/config/routes.rb",
            "config/locales/en.yml",
            "config/locales/models/new.de.yml",
            "lib/locales/de.yml",
        ],
    );
}

#[test]
fn what_classes_have_loaded_costs_a_reload() {
    check(
        Effect::Reload,
        &[
            "lib/pricing/discount.rb",
            "lib/pricing/new.rb",
            "gems/tariffs/lib/tariffs/zone.rb",
        ],
    );
    // The worker has looked for what is there, and only for that.
    let zone = absolute("gems/tariffs/lib/tariffs/zone.rb");
    for kind in [ChangeKind::Created, ChangeKind::Deleted] {
        assert_eq!(watch().effect(&change(&zone, kind)), Effect::Reboot);
    }
}

/// The nearest directory decides whose list it is.
#[test]
fn what_is_new_where_the_worker_has_made_the_list_costs_a_boot() {
    let inputs = Inputs {
        code_dirs: all(&["lib/middleware"]),
        reload_dirs: all(&["lib", "lib/middleware/app"]),
        ..inputs()
    };
    let watch = Watch::new(Path::new(ROOT), inputs, all(&["spec"]));
    for (path, listed, effect) in [
        ("lib/middleware/new.rb", true, Effect::Reboot),
        ("lib/middleware/old.rb", false, Effect::Reload),
        ("lib/new.rb", true, Effect::Reload),
        ("lib/middleware/app/new.rb", true, Effect::Reload),
        ("lib/middleware/notes.txt", true, Effect::Nothing),
    ] {
        let kind = if listed {
            ChangeKind::Created
        } else {
            ChangeKind::Modified
        };
        assert_eq!(watch.effect(&change(&absolute(path), kind)), effect, "{path}");
    }
}

#[test]
fn where_the_worker_has_the_classes_they_cost_a_boot() {
    let whole = Inputs {
        whole: true,
        ..inputs()
    };
    let watch = Watch::new(Path::new(ROOT), whole, all(&["spec"]));
    for (path, effect) in [
        ("app/models/cart.rb", Effect::Reboot),
        ("config/routes.rb", Effect::Reboot),
        ("app/models/colours.txt", Effect::Reboot),
        ("spec/rails_helper.rb", Effect::NewZygote),
        ("app/views/carts/show.html.erb", Effect::Nothing),
    ] {
        assert_eq!(watch.effect(&modified(&absolute(path))), effect, "{path}");
    }
}

#[test]
fn what_the_boot_read_costs_a_boot() {
    check(
        Effect::Reboot,
        &[
            "Gemfile",
            "Gemfile.lock",
            "Gemfile.local",
            "/opt/shared/Gemfile",
            "gems.rb",
            "gems.locked",
            ".env",
            ".env.test",
            ".env.local",
            ".env.test.local",
            ".env.new",
            "Gemfile.new",
            ".ruby-version",
            ".tool-versions",
            "mise.toml",
            "config/application.rb",
            "config/environments/test.rb",
            "config/initializers/money.rb",
            "config/initializers/new.rb",
            "config/database.yml",
            "config/credentials/test.yml.enc",
            "config/master.key",
            "config/odd name",
            "engines/blog/config/settings.yml",
            "lib/tax.rb",
            "lib/shop/rates.rb",
            "gems/money_math/lib/money_math.rb",
            "engines/blog/lib/blog/engine.rb",
            "/opt/shared/lib/shared.rb",
        ],
    );
}

/// Rails looks for these directories at boot only.
#[test]
fn the_first_file_of_a_new_autoload_directory_costs_a_boot() {
    check(Effect::Reboot, &["app/queries/new.rb"]);
    assert!(
        watch()
            .targets()
            .iter()
            .any(|target| covers(target, &absolute("app/queries/new.rb")))
    );
}

/// Data, and code that `load` brought in.
#[test]
fn what_was_read_once_costs_what_read_it() {
    check(
        Effect::Reboot,
        &[
            "data/rates.csv",
            "NOTICE.md",
            "data/countries/nl.json",
            // By the boot and by the helper.
            "data/both.json",
            "gems/tariffs/lib/tariffs/new.rb",
        ],
    );
    check(Effect::Reload, &["app/models/colours.txt"]);
    check(Effect::NewZygote, &["spec/seeds.yml"]);
    check(
        Effect::Nothing,
        &[
            "data/other.csv",
            "data/countries/old/nl.json",
            "spec/other.yml",
            "gems/tariffs/README",
        ],
    );
}

/// What a listing held is no content of its files.
#[test]
fn what_comes_and_goes_in_a_listing_costs_what_listed_it() {
    let table = [
        ("plugins/new/init.rb", Effect::Reboot),
        ("app/extras", Effect::Reboot),
        ("app/templates/deep/new.erb", Effect::Reload),
        ("lib/tasks/new.rake", Effect::NewZygote),
        ("plugins/new/deep/init.rb", Effect::Nothing),
        ("plugins/init.rb", Effect::Nothing),
        ("lib/tasks/.#new.rake", Effect::Nothing),
        ("lib/tasks/new.rake~", Effect::Nothing),
    ];
    for (path, effect) in table {
        for kind in [ChangeKind::Created, ChangeKind::Deleted] {
            assert_eq!(watch().effect(&change(&absolute(path), kind)), effect, "{path}");
        }
        assert_eq!(watch().effect(&modified(&absolute(path))), Effect::Nothing, "{path}");
    }
}

/// It may be required by a glob.
#[test]
fn a_new_file_beside_loaded_ones_in_lib_costs_a_boot() {
    check(Effect::Reboot, &["lib/new.rb", "lib/shop/new.rb"]);
    check(
        Effect::Nothing,
        &["lib/other/new.rb", "lib/shop/new.txt", "lib/shop/deeper/new.rb"],
    );
}

#[test]
fn what_an_editor_leaves_beside_a_file_costs_nothing() {
    check(
        Effect::Nothing,
        &[
            "Gemfile~",
            ".env.swp",
            "config/.routes.rb.swp",
            "config/.#database.yml",
            "config/#database.yml#",
            "config/4913",
            "config/locales/en.yml~",
            "app/models/.#cart.rb",
            "spec/support/.goutputstream-X1",
            "db/schema.rb___jb_tmp___",
        ],
    );
}

#[test]
fn what_the_worker_loaded_costs_a_boot_though_the_zygote_required_it_too() {
    check(Effect::Reboot, &["lib/tax.rb"]);
}

#[test]
fn a_name_that_only_begins_like_a_directory_is_outside_of_it() {
    check(
        Effect::Nothing,
        &[
            "application/models/cart.rb",
            "config.rb",
            "dbx/schema.rb",
            "spec_old/helper.rb",
        ],
    );
}

#[test]
fn test_directories_may_come_later() {
    let helper = absolute("packs/billing/spec/support/new.rb");
    let mut watch = watch();
    assert_eq!(watch.effect(&modified(&helper)), Effect::Nothing);
    watch.set_test_dirs(all(&["packs/billing/spec"]));
    assert_eq!(watch.effect(&modified(&helper)), Effect::NewZygote);
    assert_eq!(
        watch.effect(&modified(&absolute("spec/support/login.rb"))),
        Effect::Nothing
    );
}

#[test]
fn what_an_earlier_zygote_loaded_is_forgotten() {
    let mut watch = watch();
    watch.loaded_by_zygote(&loaded(&[], Traces::default()));
    assert_eq!(
        watch.effect(&modified(&absolute("lib/testing/clock.rb"))),
        Effect::Nothing
    );
}

#[test]
fn before_the_first_boot_what_matters_is_looked_at() {
    let watch = Watch::before_boot(Path::new(ROOT), all(&["spec"]));
    let table = [
        ("app/models/cart.rb", Effect::Reload),
        ("packs/billing/app/models/invoice.rb", Effect::Reload),
        ("config/application.rb", Effect::Reboot),
        ("Gemfile.lock", Effect::Reboot),
        ("spec/rails_helper.rb", Effect::NewZygote),
        ("spec/models/cart_spec.rb", Effect::Nothing),
    ];
    for (path, effect) in table {
        assert_eq!(watch.effect(&modified(&absolute(path))), effect, "{path}");
    }
}

#[test]
fn the_dearest_change_decides_and_is_named() {
    let change = |path: &str| Change {
        path: absolute(path),
        kind: ChangeKind::Modified,
    };
    let table: &[(&[&str], Effect, Option<&str>)] = &[
        (&[], Effect::Nothing, None),
        (&["README.md", "spec/models/cart_spec.rb"], Effect::Nothing, None),
        (&["README.md", "db/schema.rb"], Effect::NewZygote, Some("db/schema.rb")),
        (
            &["db/schema.rb", "app/models/cart.rb"],
            Effect::Reload,
            Some("app/models/cart.rb"),
        ),
        (
            &["app/models/cart.rb", "db/schema.rb"],
            Effect::Reload,
            Some("app/models/cart.rb"),
        ),
        (
            &["app/models/cart.rb", "Gemfile", "db/schema.rb"],
            Effect::Reboot,
            Some("Gemfile"),
        ),
        (
            &["app/models/a.rb", "app/models/b.rb"],
            Effect::Reload,
            Some("app/models/a.rb"),
        ),
    ];
    for (paths, effect, cause) in table {
        let changes: Vec<Change> = paths.iter().map(|path| change(path)).collect();
        let (dearest, named) = watch().verdict(&changes);
        assert_eq!(dearest, *effect, "{paths:?}");
        assert_eq!(
            named.map(|change| change.path.clone()),
            cause.map(absolute),
            "{paths:?}"
        );
    }
}

/// Kinds of change make no difference: what is gone was needed, too.
#[test]
fn a_deletion_counts_as_a_change_does() {
    for kind in [ChangeKind::Created, ChangeKind::Modified, ChangeKind::Deleted] {
        let changes = [Change {
            path: absolute("app/models/cart.rb"),
            kind,
        }];
        assert_eq!(watch().verdict(&changes).0, Effect::Reload);
    }
}

/// What has an effect must also be seen: everything that this file calls dear is a target.
#[test]
fn what_has_an_effect_is_watched() {
    let watched = |path: &Path| watch().targets().iter().any(|target| covers(target, path));
    for path in [
        "spec/support/new.rb",
        "spec/rails_helper.rb",
        "lib/testing/clock.rb",
        "/opt/shared/lib/matchers.rb",
        ".rspec",
        "db/structure.sql",
        "db/migrate/1_new.rb",
        "app/models/deep/new.rb",
        "packs/billing/app/models/new.rb",
        "config/routes.rb",
        "config/locales/new.yml",
        "lib/locales/de.yml",
        "Gemfile",
        "gems.locked",
        ".env.test",
        ".env.new",
        "Gemfile.new",
        "/opt/shared/Gemfile",
        "config/initializers/new.rb",
        "config/master.key",
        "engines/blog/config/settings.yml",
        "lib/new.rb",
        "lib/shop/rates.rb",
        "gems/money_math/lib/money_math.rb",
        "/opt/shared/lib/shared.rb",
        "data/rates.csv",
        "data/countries/new.json",
        "plugins/new/init.rb",
        "app/extras",
        "app/models/colours.txt",
        "app/templates/new.erb",
        "spec/seeds.yml",
        "lib/tasks/new.rake",
        "gems/tariffs/lib/new.rb",
    ] {
        assert!(watched(&absolute(path)), "{path}");
    }
    assert!(!watched(&absolute("log/test.log")));
    assert!(!watched(&absolute("app/views/carts/show.html.erb")));
}

/// As `Snapshot` reads a target.
fn covers(target: &Target, path: &Path) -> bool {
    match target {
        Target::File(file) => file == path,
        Target::Named { dir, prefixes } => {
            let name = path.file_name().unwrap().to_string_lossy();
            path.parent() == Some(dir) && prefixes.iter().any(|prefix| name.starts_with(prefix))
        }
        Target::Tree {
            dir,
            extensions,
            exclude,
            ..
        } => {
            let wanted = extensions.as_ref().is_none_or(|extensions| {
                path.extension()
                    .is_some_and(|extension| extensions.iter().any(|wanted| wanted == extension))
            });
            wanted && exclude.is_empty() && path.starts_with(dir)
        }
        Target::Listing { glob, .. } => glob.matches(path),
    }
}

/// Packs may lie in each other: nothing needs to be looked at twice.
#[test]
fn a_directory_within_another_is_no_target_of_its_own() {
    let inputs = Inputs {
        reload_dirs: all(&["app/models/concerns", "app/models", "app/models"]),
        ..Inputs::default()
    };
    let targets = Watch::new(Path::new(ROOT), inputs, Vec::new()).targets();
    assert!(
        !targets
            .iter()
            .any(|target| covers_only(target, &absolute("app/models/concerns")))
    );
    assert!(targets.iter().any(|target| covers_only(target, &absolute("app"))));
}

fn covers_only(target: &Target, wanted: &Path) -> bool {
    matches!(target, Target::Tree { dir, .. } if dir == wanted)
}

/// The same on a real disk: a file that appears in a watched place is found, and called by its price.
#[test]
fn a_new_model_is_found_and_calls_for_a_reload() {
    let app = tempfile::tempdir().unwrap();
    let models = app.path().join("app/models");
    std::fs::create_dir_all(&models).unwrap();
    let inputs = Inputs {
        reload_dirs: vec![models.clone()],
        ..Inputs::default()
    };
    let watch = Watch::new(app.path(), inputs, Vec::new());
    let mut before = Snapshot::take(&watch.targets());
    std::fs::write(models.join("cart.rb"), "class Cart; end").unwrap();
    let changes = before.diff(&Snapshot::look(&watch.targets()));
    let (effect, cause) = watch.verdict(&changes);
    assert_eq!(effect, Effect::Reload);
    assert_eq!(cause.unwrap().path, models.join("cart.rb"));
}
