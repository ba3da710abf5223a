//! Keeps the result of a reading within a number of bytes: what is small stays whole, what is large gets what is left,
//! and whatever is cut is counted.

use serde_json::{Map, Value, json};

/// Lists of which a result is a page, if it has `matched`: what is cut off them is on the next page.
const PAGED: &[&str] = &["rows", "findings", "tables", "models", "classes", "items"];

/// What is kept free for telling what was cut, in bytes: an eighth of the limit, and no more than this.
const RESERVE: usize = 1024;

/// Where a text was cut.
const MARK: &str = "…";

/// The result within `limit` bytes of compact JSON. Lists lose items from their end, texts their end, objects their last
/// keys. `cut` says by place (`callbacks`, `models.0.columns`) how many items, characters or keys are missing; of a
/// page, `next_offset` says it.
pub fn within(result: Value, limit: usize) -> Value {
    if size(&result) <= limit {
        return result;
    }
    let reserve = RESERVE.min(limit / 8);
    let page = Page::of(&result);
    let mut cuts = Cuts::default();
    let mut result = shrink(result, limit - reserve, &mut cuts);
    if let Some(page) = page {
        page.turn(&mut result, &mut cuts);
    }
    cuts.tell(result, limit)
}

/// Bytes of compact JSON.
fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

/// A list of which the result has a part.
struct Page {
    key: &'static str,
    rows: u64,
    /// The offset behind the last row.
    end: u64,
}

impl Page {
    fn of(result: &Value) -> Option<Page> {
        let matched = result.get("matched")?.as_u64()?;
        let end = result.get("next_offset").and_then(Value::as_u64).unwrap_or(matched);
        PAGED.iter().find_map(|key| {
            let rows = result.get(*key)?.as_array()?.len() as u64;
            Some(Page { key, rows, end })
        })
    }

    /// Makes the next page begin where this one ends now.
    fn turn(&self, result: &mut Value, cuts: &mut Cuts) {
        let kept = result.get(self.key).and_then(Value::as_array).map_or(0, Vec::len) as u64;
        if kept < self.rows {
            result["next_offset"] = (self.end - (self.rows - kept)).into();
            cuts.forget(self.key);
        }
    }
}

/// How much is missing, by place.
#[derive(Default)]
struct Cuts {
    path: Vec<String>,
    found: Vec<(String, usize)>,
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
        let (Value::Object(map), false) = (&mut result, self.found.is_empty()) else {
            return result;
        };
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
        let value = cuts.below(key.clone(), |cuts| shrink(value, room, cuts));
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
