//! SQL as schema dumps are written in it, cut into statements of tokens.

/// A token and where it stands in the text, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A bare word or number.
    Word(String),
    /// A quoted name.
    Name(String),
    Text(String),
    Mark(char),
}

impl Token {
    /// Is it this keyword, in any case?
    pub fn is(&self, keyword: &str) -> bool {
        matches!(&self.kind, Kind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    pub fn is_mark(&self, mark: char) -> bool {
        self.kind == Kind::Mark(mark)
    }

    /// What it names, quoted or not.
    pub fn name(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(name) | Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Statements end with `;`, wherever it is not part of a text. What MySQL runs only from some version on (`/*!50001 … */`)
/// counts.
pub fn statements(text: &str) -> Vec<Vec<Token>> {
    let mut lexer = Lexer { text, at: 0 };
    let mut statements = vec![Vec::new()];
    while let Some(token) = lexer.token() {
        match statements.last_mut() {
            Some(current) if !token.is_mark(';') => current.push(token),
            _ => statements.push(Vec::new()),
        }
    }
    statements.retain(|statement| !statement.is_empty());
    statements
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn token(&mut self) -> Option<Token> {
        self.skip_blank();
        let start = self.at;
        let first = self.rest().chars().next()?;
        let kind = match first {
            '\'' => Kind::Text(self.quoted('\'')),
            '"' | '`' => Kind::Name(self.quoted(first)),
            '$' => self.dollar_quoted().unwrap_or_else(|| self.mark(first)),
            _ if is_word(first) => self.word(),
            _ => self.mark(first),
        };
        Some(Token {
            kind,
            start,
            end: self.at,
        })
    }

    fn mark(&mut self, mark: char) -> Kind {
        self.at += mark.len_utf8();
        Kind::Mark(mark)
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            let skipped = if blank > 0 { blank } else { comment(rest) };
            if skipped == 0 {
                return;
            }
            self.at += skipped;
        }
    }

    fn word(&mut self) -> Kind {
        let rest = self.rest();
        let length = rest.find(|next| !is_word(next)).unwrap_or(rest.len());
        let word = rest[..length].to_owned();
        self.at += length;
        Kind::Word(word)
    }

    /// To the closing quote or the end of the file. A doubled quote stands for itself, and so does one behind a backslash.
    fn quoted(&mut self, quote: char) -> String {
        self.at += 1;
        let mut text = String::new();
        let mut chars = self.text[self.at..].char_indices().peekable();
        let mut end = self.text.len();
        while let Some((at, next)) = chars.next() {
            if next == quote && chars.next_if(|(_, after)| *after == quote).is_none() {
                end = self.at + at + 1;
                break;
            }
            // Only MySQL reads a backslash so, but elsewhere none stands before a quote.
            let escaped = next == '\\' && quote == '\'' && chars.peek().is_some_and(|(_, after)| *after == quote);
            if escaped && !self.ends_here(at + 1, quote) {
                chars.next();
                text.push(quote);
            } else {
                text.push(next);
            }
        }
        self.at = end;
        text
    }

    /// Does the quote at that place end the text, since `,`, `)` or `;` or a line's end follow?
    fn ends_here(&self, at: usize, quote: char) -> bool {
        let after = self.text.get(self.at + at..).and_then(|rest| rest.strip_prefix(quote));
        after.is_none_or(|rest| rest.starts_with([',', ')', ';', '\n', ':']) || rest.is_empty())
    }

    /// `$$ … $$` or `$tag$ … $tag$`: bodies of functions.
    fn dollar_quoted(&mut self) -> Option<Kind> {
        let rest = self.rest();
        let tag = &rest[..=1 + rest.get(1..)?.find('$')?];
        if !tag[1..tag.len() - 1].chars().all(is_word) {
            return None;
        }
        let body = &rest[tag.len()..];
        let length = body.find(tag)?;
        let text = body[..length].to_owned();
        self.at += length + 2 * tag.len();
        Some(Kind::Text(text))
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// How long the comment is that begins here. MySQL's conditional ones are none, only their marks are.
fn comment(rest: &str) -> usize {
    let line = || rest.find('\n').unwrap_or(rest.len());
    if rest.starts_with("--") {
        line()
    } else if let Some(inside) = rest.strip_prefix("/*!") {
        3 + inside.bytes().take_while(u8::is_ascii_digit).count()
    } else if rest.starts_with("/*") {
        rest.find("*/").map_or(rest.len(), |end| end + 2)
    } else if rest.starts_with("*/") {
        2
    } else {
        0
    }
}
