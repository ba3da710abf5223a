//! A place in a statement of SQL, and what can be read from there on.

use super::sql_tokens::{Kind, Token};

#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str, tokens: &'a [Token]) -> Cursor<'a> {
        Cursor { text, tokens }
    }

    pub fn tokens(&self) -> &'a [Token] {
        self.tokens
    }

    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    pub fn is(&self, keyword: &str) -> bool {
        self.tokens.first().is_some_and(|token| token.is(keyword))
    }

    pub fn accept(&mut self, keyword: &str) -> bool {
        self.accept_all(&[keyword])
    }

    /// All of them in this order, or none.
    pub fn accept_all(&mut self, keywords: &[&str]) -> bool {
        let there = keywords.len() <= self.tokens.len()
            && self
                .tokens
                .iter()
                .zip(keywords)
                .all(|(token, keyword)| token.is(keyword));
        if there {
            self.tokens = &self.tokens[keywords.len()..];
        }
        there
    }

    pub fn skip(&mut self) {
        self.tokens = self.tokens.get(1..).unwrap_or_default();
    }

    /// Behind the next such keyword.
    pub fn skip_to(&mut self, keyword: &str) -> bool {
        let found = self.tokens.iter().position(|token| token.is(keyword));
        self.tokens = &self.tokens[found.map_or(self.tokens.len(), |at| at + 1)..];
        found.is_some()
    }

    pub fn name(&mut self) -> Option<String> {
        let name = self.tokens.first()?.name()?.to_owned();
        self.skip();
        Some(name)
    }

    pub fn take_text(&mut self) -> Option<String> {
        let Kind::Text(text) = &self.tokens.first()?.kind else {
            return None;
        };
        self.skip();
        Some(text.clone())
    }

    /// `widgets`, `public.widgets` (the same), `audit.events`.
    pub fn qualified_name(&mut self) -> Option<String> {
        let mut name = self.name()?;
        while self.tokens.first().is_some_and(|token| token.is_mark('.')) {
            self.skip();
            let last = self.name()?;
            name = if name == "public" {
                last
            } else {
                format!("{name}.{last}")
            };
        }
        Some(name)
    }

    /// What is between the brackets that begin here.
    pub fn group(&mut self) -> Option<Cursor<'a>> {
        if !self.tokens.first()?.is_mark('(') {
            return None;
        }
        let end = self.closing();
        let inside = &self.tokens[1..end];
        self.tokens = self.tokens.get(end + 1..).unwrap_or_default();
        Some(Cursor::new(self.text, inside))
    }

    /// Where the bracket closes that begins here, or the end.
    fn closing(&self) -> usize {
        let mut depth = 0_usize;
        for (at, token) in self.tokens.iter().enumerate() {
            depth = deeper(depth, token);
            if depth == 0 {
                return at;
            }
        }
        self.tokens.len()
    }

    /// Up to the first token outside of brackets that `stop` is true of; it is told whether the token is the first.
    pub fn take_until(&mut self, stop: impl Fn(&Token, bool) -> bool) -> Cursor<'a> {
        let mut depth = 0;
        let end = self.tokens.iter().enumerate().position(|(at, token)| {
            let outside = depth == 0;
            depth = deeper(depth, token);
            outside && stop(token, at == 0)
        });
        let (taken, rest) = self.tokens.split_at(end.unwrap_or(self.tokens.len()));
        self.tokens = rest;
        Cursor::new(self.text, taken)
    }

    /// What commas outside of brackets separate.
    pub fn items(&self) -> Vec<Cursor<'a>> {
        let mut depth = 0;
        let parts = self.tokens.split(|token| {
            depth = deeper(depth, token);
            depth == 0 && token.is_mark(',')
        });
        parts
            .filter(|part| !part.is_empty())
            .map(|part| Cursor::new(self.text, part))
            .collect()
    }

    /// The name that each item begins with.
    pub fn names(&self) -> Vec<String> {
        self.items().iter_mut().filter_map(Cursor::name).collect()
    }

    /// `name DESC`, `name varchar_pattern_ops`, `name(10)`; not `lower(name)`.
    pub fn index_column(&self) -> Option<String> {
        let mut rest = self.clone();
        let name = rest.name()?;
        let length = rest.group().map(|inside| inside.text());
        let of_digits = length.is_none_or(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        (of_digits && rest.tokens.iter().all(|token| token.name().is_some())).then_some(name)
    }

    /// As it stands in the file, with single spaces.
    pub fn text(&self) -> String {
        let (Some(first), Some(last)) = (self.tokens.first(), self.tokens.last()) else {
            return String::new();
        };
        let text = self.text.get(first.start..last.end).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn deeper(depth: usize, token: &Token) -> usize {
    match token.kind {
        Kind::Mark('(') => depth + 1,
        Kind::Mark(')') => depth.saturating_sub(1),
        _ => depth,
    }
}
