//! Lists of things with names, told by the names alone: a lower level of detail, so that there is something of everything.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::page::PAGED;

/// In how many places the list of a field is told by names.
#[derive(Debug, Default)]
pub(super) struct Briefs(BTreeMap<String, usize>);

impl Briefs {
    /// Tells as many lists of `result` in full as there is room for beside the names of all others: those at the beginning.
    pub(super) fn make(result: &mut Value, room: usize) -> Briefs {
        let mut total = size(result);
        let mut lists = Vec::new();
        collect(result, &mut lists);
        let mut briefs = Briefs::default();
        total -= lists.iter().map(|list| list.saved).sum::<usize>();
        for list in lists {
            if list.saved == 0 || total + list.saved <= room {
                total += list.saved;
                continue;
            }
            *list.value = list.names;
            *briefs.0.entry(list.field).or_default() += 1;
        }
        briefs
    }

    pub(super) fn tell(&self, result: &mut Map<String, Value>) {
        if !self.0.is_empty() {
            result.insert("brief".into(), json!(self.0));
        }
    }
}

/// Bytes of compact JSON.
pub(super) fn size(value: &Value) -> usize {
    serde_json::to_vec(value).map_or(0, |bytes| bytes.len())
}

/// A list that can be told by names.
struct List<'a> {
    field: String,
    value: &'a mut Value,
    names: Value,
    /// Bytes that the names spare.
    saved: usize,
}

/// Of the result, and of each thing that it tells.
fn collect<'a>(value: &'a mut Value, found: &mut Vec<List<'a>>) {
    for (field, value) in value.as_object_mut().into_iter().flatten() {
        if PAGED.contains(&field.as_str()) {
            let things = value.as_array_mut().into_iter().flatten();
            things.for_each(|thing| collect(thing, found));
        } else if let Some(names) = names(value) {
            let saved = size(value).saturating_sub(size(&names));
            found.push(List {
                field: field.clone(),
                value,
                names,
                saved,
            });
        }
    }
}

fn names(list: &Value) -> Option<Value> {
    let name = |item: &Value| item.get("name").filter(|name| name.is_string()).cloned();
    list.as_array()?.iter().map(name).collect()
}
