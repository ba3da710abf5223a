//! Keeps the result of a reading within a number of bytes: what is small stays whole, what is large gets what is left,
//! and whatever is cut is counted.

use serde_json::{Map, Value, json};

use super::brief::{Briefs, size};
use super::page::{PAGED, Rows, Since};

/// What is kept free for telling what was cut, in bytes: an eighth of the limit, and no more than this.
const RESERVE: usize = 1024;

/// Where a text was cut.
const MARK: &str = "…";

/// What is too large of things that were asked for by name.
const HINT: &str = "not all of it fits into one answer: ask for fewer `names` or `fields` at once";

/// The result within `limit` bytes of compact JSON. A page ends earlier, and `next_offset` says where. Of what is no page,
/// long lists of things with names are told by the names first (`brief`); then lists lose items from their end, texts their
/// end, objects their last keys, and `cut` says by place (`callbacks`, `models.0.columns`) how many are missing.
pub fn within(mut result: Value, limit: usize) -> Value {
    let page = Page::take(&mut result);
    if size(&result) <= limit {
        return result;
    }
    let room = limit - RESERVE.min(limit / 8);
    let mut cuts = Cuts::default();
    if page.as_ref().is_none_or(|page| page.rows <= 1) {
        cuts.briefs = Briefs::make(&mut result, room);
    }
    if page.is_none() {
        cuts.shared = Some("models");
    }
    let mut result = shrink(result, room, &mut cuts);
    if let Some(page) = page {
        page.turn(&mut result, &mut cuts);
    }
    cuts.tell(result, limit)
}

/// A list of which the result has a part.
struct Page {
    key: &'static str,
    rows: u64,
    /// The offset behind the last row.
    end: u64,
    /// What its cursor is made of.
    told: Option<Rows>,
}

impl Page {
    /// Puts what a caller is told of it into the place of what only we need.
    fn take(result: &mut Value) -> Option<Page> {
        let told = Rows::take(result);
        let matched = result.get("matched")?.as_u64()?;
        let end = result.get("next_offset").and_then(Value::as_u64).unwrap_or(matched);
        let (key, rows) = PAGED
            .iter()
            .find_map(|key| Some((*key, result.get(*key)?.as_array()?.len() as u64)))?;
        if let Some(since) = told.as_ref().and_then(|told| told.since) {
            result["changed"] = Since::told(since).into();
        }
        let page = Page { key, rows, end, told };
        if result.get("next_offset").is_some() {
            page.tell_cursor(result, 0);
        }
        Some(page)
    }

    /// Makes the next page begin where this one ends now.
    fn turn(&self, result: &mut Value, cuts: &mut Cuts) {
        let kept = result.get(self.key).and_then(Value::as_array).map_or(0, Vec::len) as u64;
        if kept < self.rows {
            let left = self.rows - kept;
            result["next_offset"] = (self.end - left).into();
            self.tell_cursor(result, left);
            cuts.forget(self.key);
        }
    }

    /// If so many of its last rows are left for the next one.
    fn tell_cursor(&self, result: &mut Value, left: u64) {
        let (Some(told), Ok(offset), Ok(left)) = (&self.told, usize::try_from(self.end - left), usize::try_from(left))
        else {
            return;
        };
        result["next_cursor"] = told.cursor(offset, left).to_string().into();
    }
}

/// How much is missing, by place.
#[derive(Default)]
struct Cuts {
    path: Vec<String>,
    found: Vec<(String, usize)>,
    briefs: Briefs,
    /// A list of things that were all asked for, so that each has its share.
    shared: Option<&'static str>,
}

impl Cuts {
    fn note(&mut self, missing: usize) {
        if missing > 0 {
            self.found.push((self.path.join("."), missing));
        }
    }

    fn forget(&mut self, place: &str) {
        self.found.retain(|(at, _)| at != place);
    }

    fn below<T>(&mut self, name: impl Into<String>, work: impl FnOnce(&mut Cuts) -> T) -> T {
        self.path.push(name.into());
        let done = work(self);
        self.path.pop();
        done
    }

    /// As many as there is room for, and how many places there are besides.
    fn tell(self, mut result: Value, limit: usize) -> Value {
        let Value::Object(map) = &mut result else {
            return result;
        };
        self.briefs.tell(map);
        if self.shared.is_some_and(|list| map.contains_key(list)) {
            map.insert("hint".into(), HINT.into());
        }
        if self.found.is_empty() {
            return result;
        }
        let mut told = Map::new();
        let frame = r#","cut":{"more_places":1000000}"#.len();
        let mut room = limit.saturating_sub(size(&Value::Object(map.clone())) + frame);
        let mut untold = 0;
        for (place, missing) in self.found {
            let cost = size(&json!({ &place: missing }));
            match room.checked_sub(cost) {
                Some(rest) => {
                    room = rest;
                    told.insert(place, missing.into());
                }
                None => untold += 1,
            }
        }
        if untold > 0 {
            told.insert("more_places".into(), untold.into());
        }
        map.insert("cut".into(), told.into());
        result
    }
}

/// The value within `room` bytes, if that is possible at all: nothing is smaller than [`floor`].
fn shrink(value: Value, room: usize, cuts: &mut Cuts) -> Value {
    if size(&value) <= room {
        return value;
    }
    match value {
        Value::String(text) => shorten(&text, room, cuts).into(),
        Value::Array(items) => shrink_list(items, room, cuts).into(),
        Value::Object(map) => shrink_object(map, room, cuts).into(),
        plain => plain,
    }
}

/// The least that can be made of a value: an empty text, list or object.
fn floor(value: &Value) -> usize {
    match value {
        Value::String(_) => size(value).min(MARK.len() + 2),
        Value::Array(_) | Value::Object(_) => 2,
        plain => size(plain),
    }
}

fn shorten(text: &str, room: usize, cuts: &mut Cuts) -> String {
    let room = room.saturating_sub(MARK.len() + 2);
    let mut used = 0;
    let kept = text.chars().take_while(|char| {
        used += escaped(*char);
        used <= room
    });
    let kept: String = kept.collect();
    cuts.note(text.chars().count() - kept.chars().count());
    kept + MARK
}

/// Bytes of a character in JSON.
fn escaped(char: char) -> usize {
    size(&Value::String(char.into())) - 2
}

/// Whole items from the beginning; if not even one fits, as much of the first as does.
fn shrink_list(items: Vec<Value>, room: usize, cuts: &mut Cuts) -> Vec<Value> {
    let total = items.len();
    let mut left = room.saturating_sub(2);
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        let cost = size(&item) + usize::from(!kept.is_empty());
        if cost <= left {
            left -= cost;
            kept.push(item);
            continue;
        }
        if kept.is_empty() && floor(&item) <= left {
            kept.push(cuts.below("0", |cuts| shrink(item, left, cuts)));
        }
        break;
    }
    cuts.note(total - kept.len());
    kept
}

/// All items, small ones whole, large ones with equal shares of what those leave.
fn share_list(items: Vec<Value>, room: usize, cuts: &mut Cuts) -> Vec<Value> {
    let least = items.iter().map(|item| floor(item) + 1).sum::<usize>() + 1;
    let Some(left) = room.checked_sub(least) else {
        return shrink_list(items, room, cuts);
    };
    let share = share(items.iter().map(|item| size(item) - floor(item)).collect(), left);
    let shrunk = items.into_iter().enumerate().map(|(at, item)| {
        let room = floor(&item) + share;
        cuts.below(at.to_string(), |cuts| shrink(item, room, cuts))
    });
    shrunk.collect()
}

/// Small values stay whole, large ones get equal shares of what they leave.
fn shrink_object(map: Map<String, Value>, room: usize, cuts: &mut Cuts) -> Map<String, Value> {
    let total = map.len();
    let mut left = room.saturating_sub(1);
    let mut kept = Vec::new();
    for (key, value) in map {
        let least = size(&Value::String(key.clone())) + 2 + floor(&value);
        match left.checked_sub(least) {
            Some(rest) => left = rest,
            None => break,
        }
        kept.push((key, value));
    }
    cuts.note(total - kept.len());
    // What is left beyond the floors, to be shared.
    let share = share(kept.iter().map(|(_, value)| size(value) - floor(value)).collect(), left);
    let shrunk = kept.into_iter().map(|(key, value)| {
        let room = floor(&value) + share;
        let value = cuts.below(key.clone(), |cuts| match value {
            Value::Array(items) if cuts.shared == Some(key.as_str()) => share_list(items, room, cuts).into(),
            value => shrink(value, room, cuts),
        });
        (key, value)
    });
    shrunk.collect()
}

/// The most that each may have beyond its floor so that all together have no more than `left`.
fn share(mut wants: Vec<usize>, mut left: usize) -> usize {
    wants.sort_unstable();
    let mut claims = wants.len();
    for want in wants {
        if want > left / claims {
            return left / claims;
        }
        left -= want;
        claims -= 1;
    }
    usize::MAX / 2
}
