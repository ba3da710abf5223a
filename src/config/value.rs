//! Readers of single values: each says what it accepts, so that a wrong value is answered with the
//! right range and not with the name of a Rust type.

use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, SeqAccess, Unexpected, Visitor};

/// Reads a whole number from `MIN` to `MAX`, both included.
pub(super) fn within<'de, const MIN: u64, const MAX: u64, T, D>(from: D) -> Result<T, D::Error>
where
    T: TryFrom<u64>,
    D: Deserializer<'de>,
{
    let number = from.deserialize_u64(Range::<MIN, MAX>)?;
    T::try_from(number).map_err(|_| D::Error::custom("the number is too large for this machine"))
}

struct Range<const MIN: u64, const MAX: u64>;

impl<const MIN: u64, const MAX: u64> Visitor<'_> for Range<MIN, MAX> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number from {MIN} to {MAX}")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        if (MIN..=MAX).contains(&number) {
            return Ok(number);
        }
        Err(E::invalid_value(Unexpected::Unsigned(number), &self))
    }
}

/// The same, or nothing.
pub(super) fn optional_within<'de, const MIN: u64, const MAX: u64, D>(from: D) -> Result<Option<u64>, D::Error>
where
    D: Deserializer<'de>,
{
    from.deserialize_any(Optional(Range::<MIN, MAX>))
}

/// Reads one of the words that `T` knows, or nothing.
pub(super) fn optional_word<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    from.deserialize_any(Optional(Word(PhantomData)))
}

/// What `V` reads, or nothing.
struct Optional<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for Optional<V> {
    type Value = Option<V::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.0.visit_u64(number).map(Some)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.0.visit_str(text).map(Some)
    }
}

/// Reads one of the words that `T` knows.
pub(super) fn word<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    from.deserialize_str(Word(PhantomData))
}

struct Word<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Word<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
        T::deserialize(word.into_deserializer())
    }
}

/// Reads a list of words of an enumeration, or nothing.
pub(super) fn words<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_any(Words(PhantomData))
}

struct Words<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Words<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of words")
    }

    fn visit_unit<E: Error>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = items.next_element_seed(Word(PhantomData))? {
            words.push(word);
        }
        Ok(words)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for Word<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<T, D::Error> {
        from.deserialize_str(self)
    }
}

/// Reads a section of which nothing may be written: `key:` with all of its lines commented out means
/// the default.
pub(super) fn section<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// Reads the words of a command: a list of them, or one string that is cut at white space.
pub(super) fn command<'de, D>(from: D) -> Result<Option<Vec<String>>, D::Error>
where
    D: Deserializer<'de>,
{
    from.deserialize_any(Command)
}

struct Command;

impl<'de> Visitor<'de> for Command {
    type Value = Option<Vec<String>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a command: a string, or a list of words")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        let words = text.split_whitespace().map(str::to_owned);
        runnable(words.collect()).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = items.next_element::<String>()? {
            words.push(word);
        }
        runnable(words).map(Some)
    }
}

fn runnable<E: Error>(words: Vec<String>) -> Result<Vec<String>, E> {
    let named = words.first().is_some_and(|program| !program.is_empty());
    if !named || words.iter().any(|word| word.contains('\0')) {
        return Err(E::custom("a command begins with the name of a program"));
    }
    Ok(words)
}

/// Reads the path of a file below the root.
pub(super) fn path<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    let path = from.deserialize_any(Checked(below_root))?;
    Ok(path.map(PathBuf::from))
}

/// Reads a list of paths of files below the root.
pub(super) fn paths<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
    let paths = from.deserialize_any(List(below_root))?;
    Ok(paths.into_iter().map(PathBuf::from).collect())
}

/// Reads a list of globs of directories below the root.
pub(super) fn globs<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    from.deserialize_any(List(glob))
}

/// Reads a list of places on the disk.
pub(super) fn places<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    from.deserialize_any(List(place))
}

/// Reads a list of patterns of names of variables.
pub(super) fn patterns<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    from.deserialize_any(List(pattern))
}

/// Reads a list of names, none of them empty.
pub(super) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    from.deserialize_any(List(name))
}

/// Reads a text, or nothing, and checks it. An error that arises while the text is being visited gets
/// its key and line; a later one would not.
#[derive(Clone, Copy)]
struct Checked(Check);

/// Reads a list of texts, or nothing, and checks each.
struct List(Check);

/// What becomes of a text, or what is wrong with it.
type Check = fn(&str) -> Result<String, String>;

impl<'de> Visitor<'de> for Checked {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.0(text).map(Some).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Checked {
    type Value = Option<String>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of strings")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = items.next_element_seed(Checked(self.0))? {
            texts.push(text.ok_or_else(|| A::Error::custom("an entry is empty (a bare `~` is: quote it)"))?);
        }
        Ok(texts)
    }
}

fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a name is empty".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// Absolute, below the home (`~`), below the directory for temporary files (`$TMPDIR`), or below the root.
fn place(text: &str) -> Result<String, String> {
    if ["/", "~", "~/", "$TMPDIR", "$TMPDIR/"].contains(&text) {
        return Ok(text.to_owned());
    }
    for start in ["/", "~/", "$TMPDIR/"] {
        if let Some(rest) = text.strip_prefix(start) {
            return Ok(format!("{start}{}", below_root(rest)?));
        }
    }
    match text.starts_with(['~', '$']) {
        true => Err(format!("`{text}` begins with neither `~/` nor `$TMPDIR/`")),
        false => below_root(text),
    }
}

fn pattern(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_*?".contains(c);
    match !text.is_empty() && text.chars().all(fits) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "`{text}` is no name of a variable, with or without `*` and `?`"
        )),
    }
}

fn glob(text: &str) -> Result<String, String> {
    let glob = below_root(text)?;
    // Each `**` multiplies the work of matching a path.
    if glob.split('/').filter(|name| *name == "**").count() > 1 {
        return Err(format!("`{glob}` has more than one `**`"));
    }
    Ok(glob)
}

/// The path without `.` and doubled slashes, if it stays below the root.
fn below_root(path: &str) -> Result<String, String> {
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    let names: Vec<&str> = names.collect();
    if path.starts_with('/') || names.contains(&"..") {
        return Err(format!("`{path}` must be relative to the root and stay below it"));
    }
    if names.is_empty() || path.contains(char::is_control) {
        return Err("a path is empty or has a control character".to_owned());
    }
    Ok(names.join("/"))
}
