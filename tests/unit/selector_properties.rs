//! What holds for any selector whatsoever.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select as one_of};

use coatepec::project::roots::Place;
use coatepec::project::selector::select_in;
use coatepec::project::{Filter, Rules, suffix};

use crate::selector::Listed;

/// Pieces that mean something in a selector, strung together.
fn odd() -> impl Strategy<Value = String> {
    let pieces = vec![
        "x",
        "spec",
        "_spec.rb",
        "a_spec.rb",
        ".",
        "..",
        "-",
        ":",
        "[",
        "]",
        ",",
        "0",
        "1",
        "12",
        " ",
        "ü",
        "\n",
        "*",
    ];
    vec(one_of(pieces), 0..6).prop_map(|pieces| pieces.concat())
}

/// Anything, with slashes.
fn noise() -> impl Strategy<Value = String> {
    prop_oneof![vec(odd(), 1..5).prop_map(|names| names.join("/")), any::<String>()]
}

/// A file of odd name, mostly where specs are.
fn file() -> impl Strategy<Value = String> {
    let directories = vec!["spec", "spec/models", "packs/x/spec", "packs/x/app", "app"];
    (one_of(directories), vec(odd(), 1..3)).prop_map(|(dir, names)| format!("{dir}/{}_spec.rb", names.join("/")))
}

/// A suffix, mostly a good one.
fn suffix() -> impl Strategy<Value = String> {
    prop_oneof!["", "(:[1-9]{1,3}){1,3}", "\\[[1-9](:[1-9]){0,2}(,[1-9]){0,2}\\]", odd()]
}

/// Files, and selectors that mostly name them or a directory above them.
fn call() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    let named = (any::<Index>(), suffix(), 0usize..8);
    (vec(file(), 1..5), vec(named, 1..4), vec(noise(), 0..2)).prop_map(|(files, named, noise)| {
        let named = named.into_iter().map(|(file, suffix, up)| {
            let file = file.get(&files);
            match file.match_indices('/').nth(up) {
                Some((slash, _)) => file[..slash].to_owned(),
                None => format!("{file}{suffix}"),
            }
        });
        let named: Vec<String> = named.collect();
        // Noise is seldom accepted, so that it must not be in each call.
        let noise = noise.into_iter().filter(|noise| noise.len() % 3 == 0);
        let named = named.into_iter().chain(noise).collect();
        (files, named)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_accepted_can_be_run((files, named) in call()) {
        let (tree, rules) = (Listed::new(&files), Rules::default());
        match select_in(&tree, &rules, &named) {
            Err(refused) => prop_assert!(!refused.is_empty()),
            Ok(selection) => {
                prop_assert!(!selection.selectors.is_empty());
                for selector in selection.selectors {
                    let path = &selector.path;
                    prop_assert!(files.contains(path));
                    prop_assert!(path.split('/').all(|name| !matches!(name, "" | "." | "..")));
                    prop_assert!(path.ends_with("_spec.rb"));
                    prop_assert!(!path.contains(char::is_control));
                    prop_assert_eq!(rules.place(path), Place::Within);
                    let argument = selector.to_argument();
                    prop_assert!(argument.starts_with("./"));
                    let again = select_in(&tree, &rules, &[&argument]).unwrap();
                    prop_assert_eq!(again.selectors, [selector]);
                }
            }
        }
    }

    #[test]
    fn nothing_makes_it_panic(files in vec(noise(), 0..4), named in vec(noise(), 0..4)) {
        let lines: Vec<String> = files.iter().chain(&named).filter(|line| !line.is_empty()).cloned().collect();
        if let Err(refused) = select_in(&Listed::new(&lines), &Rules::default(), &named) {
            prop_assert!(!refused.is_empty());
        }
    }

    #[test]
    fn a_filter_is_written_as_it_is_read(lines in vec(1u32.., 1..5), ids in vec(vec(1u32..99, 1..4), 1..4)) {
        let written = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(":");
        let ids: Vec<String> = ids.iter().map(|id| written(id)).collect();
        for suffix in [format!(":{}", written(&lines)), format!("[{}]", ids.join(","))] {
            let filter = Filter::parse(&suffix).unwrap();
            prop_assert_eq!(Filter::parse(&filter.to_string()), Some(filter));
        }
    }

    #[test]
    fn every_reading_is_the_whole_text(text in noise()) {
        for reading in suffix::readings(&text) {
            prop_assert_eq!(format!("{}{}", reading.path, reading.suffix), text.clone());
        }
    }
}
