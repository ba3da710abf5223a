//! Ruby as schema dumps are written in it: commands with literal arguments, one per line. Nothing is evaluated; what is no
//! literal is read as nothing.

use std::iter;

use serde_json::{Map, Value, json};

/// Lists in lists: deeper than any dump, and far from the end of the stack.
const DEPTH: usize = 16;

/// `t.index ["name"], unique: true` has the receiver `t`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Statement {
    pub receiver: Option<String>,
    pub name: String,
    pub arguments: Vec<Value>,
    pub options: Map<String, Value>,
}

/// All commands in order; an `end` is one, too.
pub fn statements(text: &str) -> Vec<Statement> {
    let mut parser = Parser {
        tokens: Lexer::new(text).collect(),
        at: 0,
    };
    iter::from_fn(|| parser.statement()).collect()
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    /// `name:`
    Label(String),
    /// A string or a symbol.
    Text(String),
    Number(Value),
    Mark(char),
    Newline,
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    /// Where the line goes on after the texts that were announced in it (`<<-SQL`).
    after_heredoc: Option<usize>,
    /// What one piece of text was made of (`%w[a b]`), last one first.
    pending: Vec<Token>,
}

impl Iterator for Lexer {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if let Some(token) = self.pending.pop() {
            return Some(token);
        }
        self.skip_blank();
        let first = self.peek(0)?;
        Some(match first {
            '\n' | ';' => self.newline(),
            '"' | '\'' => self.text_or_label(first),
            ':' if self.peek(1) == Some('"') => {
                self.at += 1;
                Token::Text(self.quoted('"'))
            }
            ':' if self.peek(1).is_some_and(begins_name) => {
                self.at += 1;
                Token::Text(self.word())
            }
            // Two at once, so that the second begins no symbol.
            ':' if self.peek(1) == Some(':') => self.mark(2),
            '<' if self.peek(1) == Some('<') => self.heredoc(),
            '%' if matches!(self.peek(1), Some('w' | 'i')) => self.words(),
            '-' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => self.number(),
            _ if first.is_ascii_digit() => self.number(),
            _ if begins_name(first) => self.name_or_label(),
            _ => self.mark(1),
        })
    }
}

fn begins_name(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

impl Lexer {
    fn new(text: &str) -> Lexer {
        Lexer {
            chars: text.chars().collect(),
            at: 0,
            after_heredoc: None,
            pending: Vec::new(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn mark(&mut self, length: usize) -> Token {
        let mark = self.chars[self.at];
        self.at += length;
        Token::Mark(mark)
    }

    fn newline(&mut self) -> Token {
        self.at = match self.after_heredoc.take() {
            Some(after) if self.peek(0) == Some('\n') => after,
            other => {
                self.after_heredoc = other;
                self.at + 1
            }
        };
        Token::Newline
    }

    /// Blanks, comments, and ends of lines that don't count.
    fn skip_blank(&mut self) {
        while let Some(next) = self.peek(0) {
            match next {
                '\n' => return,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '#' => self.skip_line(),
                _ if next.is_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = self.end_of_line(self.at);
    }

    fn end_of_line(&self, from: usize) -> usize {
        let line = self.chars.iter().skip(from).take_while(|next| **next != '\n');
        (from + line.count()).min(self.chars.len())
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let taken: String = self.chars[self.at..].iter().take_while(|next| wanted(**next)).collect();
        self.at += taken.chars().count();
        taken
    }

    fn word(&mut self) -> String {
        let mut word = self.take_while(|next| next.is_alphanumeric() || next == '_');
        if let Some(end @ ('?' | '!')) = self.peek(0) {
            self.at += 1;
            word.push(end);
        }
        word
    }

    /// Is the next `:` the end of a label?
    fn ends_label(&mut self) -> bool {
        let label = self.peek(0) == Some(':') && self.peek(1) != Some(':');
        self.at += usize::from(label);
        label
    }

    fn name_or_label(&mut self) -> Token {
        let word = self.word();
        if self.ends_label() {
            Token::Label(word)
        } else {
            Token::Name(word)
        }
    }

    fn text_or_label(&mut self, quote: char) -> Token {
        let text = self.quoted(quote);
        if self.ends_label() {
            Token::Label(text)
        } else {
            Token::Text(text)
        }
    }

    /// To the closing quote or the end of the file.
    fn quoted(&mut self, quote: char) -> String {
        self.at += 1;
        let mut text = String::new();
        while let Some(next) = self.peek(0) {
            self.at += 1;
            match next {
                '\\' => text.extend(self.escaped(quote)),
                _ if next == quote => break,
                _ => text.push(next),
            }
        }
        text
    }

    fn escaped(&mut self, quote: char) -> Vec<char> {
        let Some(next) = self.peek(0) else { return vec!['\\'] };
        self.at += 1;
        match next {
            'n' if quote == '"' => vec!['\n'],
            't' if quote == '"' => vec!['\t'],
            _ if quote == '"' || next == quote || next == '\\' => vec![next],
            _ => vec!['\\', next],
        }
    }

    fn number(&mut self) -> Token {
        let sign = if self.peek(0) == Some('-') { "-" } else { "" };
        self.at += sign.len();
        let whole = self.take_while(|next| next.is_ascii_digit() || next == '_');
        let fraction = match (self.peek(0), self.peek(1)) {
            (Some('.'), Some(next)) if next.is_ascii_digit() => {
                self.take_while(|next| next.is_ascii_digit() || matches!(next, '_' | '.' | 'e'))
            }
            _ => String::new(),
        };
        let text = format!("{sign}{whole}{fraction}").replace('_', "");
        Token::Number(serde_json::from_str(&text).unwrap_or(Value::String(text)))
    }

    /// `%w[a b]` as the list that it is.
    fn words(&mut self) -> Token {
        self.at += 2;
        let Some(open) = self.peek(0) else {
            return Token::Newline;
        };
        self.at += 1;
        let close = match open {
            '[' => ']',
            '(' => ')',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let inside = self.take_while(|next| next != close);
        self.at = (self.at + 1).min(self.chars.len());
        self.pending.push(Token::Mark(']'));
        for word in inside.split_whitespace().rev() {
            self.pending.extend([Token::Mark(','), Token::Text(word.to_owned())]);
        }
        Token::Mark('[')
    }

    /// A text that begins on the next line, behind the one that was announced before it in this line.
    fn heredoc(&mut self) -> Token {
        let begin = self.at;
        self.at += 2;
        let _kind = self.take_while(|next| matches!(next, '-' | '~'));
        let _quote = self.take_while(|next| matches!(next, '"' | '\''));
        let name = self.word();
        if name.is_empty() {
            self.at = begin + 1;
            return Token::Mark('<');
        }
        let _quote = self.take_while(|next| matches!(next, '"' | '\''));
        let first = self.after_heredoc.unwrap_or_else(|| self.end_of_line(self.at) + 1);
        self.heredoc_body(first, &name)
    }

    fn heredoc_body(&mut self, first: usize, name: &str) -> Token {
        let mut from = first;
        let mut text = String::new();
        while from < self.chars.len() {
            let end = self.end_of_line(from);
            let line: String = self.chars[from..end].iter().collect();
            from = end + 1;
            if line.trim() == name {
                break;
            }
            text.push_str(&line);
            text.push('\n');
        }
        self.after_heredoc = Some(from);
        Token::Text(text)
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn statement(&mut self) -> Option<Statement> {
        while !matches!(self.tokens.get(self.at)?, Token::Name(_)) {
            self.at += 1;
        }
        let mut statement = self.head();
        self.tail(&mut statement);
        Some(statement)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take_mark(&mut self, mark: char) -> bool {
        let there = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(there);
        there
    }

    /// `ActiveRecord::Schema[7.1].define`: what is called, and on what.
    fn head(&mut self) -> Statement {
        let mut names = Vec::new();
        while let Some(Token::Name(name)) = self.peek() {
            names.push(name.clone());
            self.at += 1;
            if names.last().is_some_and(|name| name.starts_with(char::is_uppercase)) {
                self.skip_index();
            }
            if !self.take_mark('.') && !self.take_mark(':') {
                break;
            }
        }
        Statement {
            name: names.pop().unwrap_or_default(),
            receiver: names.pop(),
            ..Statement::default()
        }
    }

    /// The `[7.1]` of `Schema[7.1]`.
    fn skip_index(&mut self) {
        if self.peek() == Some(&Token::Mark('[')) {
            self.value(0);
        }
    }

    /// Arguments up to the end of the line, or to the block.
    fn tail(&mut self, statement: &mut Statement) {
        let mut within = self.take_mark('(');
        let mut comma = false;
        while let Some(token) = self.peek().cloned() {
            match &token {
                Token::Newline if !within && !comma => return,
                Token::Name(word) if word == "do" => return self.skip_line(),
                Token::Newline | Token::Mark(',' | ')') => self.at += 1,
                Token::Label(key) => {
                    self.at += 1;
                    statement.options.insert(key.clone(), self.value(0));
                }
                _ => self.positional(statement),
            }
            within &= token != Token::Mark(')');
            comma = token == Token::Mark(',') || (comma && token == Token::Newline);
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|token| *token != Token::Newline) {
            self.at += 1;
        }
    }

    /// A value, or a key of the old kind with its value: `"name" => 1`.
    fn positional(&mut self, statement: &mut Statement) {
        let value = self.value(0);
        if self.take_arrow() {
            let key = value.as_str().unwrap_or_default().to_owned();
            statement.options.insert(key, self.value(0));
        } else {
            statement.arguments.push(value);
        }
    }

    fn take_arrow(&mut self) -> bool {
        let there = self.tokens[self.at..].starts_with(&[Token::Mark('='), Token::Mark('>')]);
        self.at += if there { 2 } else { 0 };
        there
    }

    /// Takes one token at least, unless there is none.
    fn value(&mut self, depth: usize) -> Value {
        let Some(token) = self.peek().cloned() else {
            return Value::Null;
        };
        self.at += 1;
        match token {
            Token::Text(text) => Value::String(text),
            Token::Number(number) => number,
            Token::Name(word) if word == "true" => Value::Bool(true),
            Token::Name(word) if word == "false" => Value::Bool(false),
            Token::Mark('[') if depth < DEPTH => self.list(depth),
            Token::Mark('{') if depth < DEPTH => self.hash(depth),
            Token::Mark('-') if self.take_mark('>') => self.lambda(),
            _ => Value::Null,
        }
    }

    fn list(&mut self, depth: usize) -> Value {
        let mut list = Vec::new();
        while let Some(token) = self.peek() {
            match token {
                Token::Mark(']') => {
                    self.at += 1;
                    break;
                }
                Token::Mark(',') | Token::Newline => self.at += 1,
                _ => list.push(self.value(depth + 1)),
            }
        }
        Value::Array(list)
    }

    fn hash(&mut self, depth: usize) -> Value {
        let mut hash = Map::new();
        while let Some(token) = self.peek().cloned() {
            match token {
                Token::Mark('}') => {
                    self.at += 1;
                    break;
                }
                Token::Label(key) => {
                    self.at += 1;
                    hash.insert(key, self.value(depth + 1));
                }
                Token::Text(key) => {
                    self.at += 1;
                    self.take_arrow();
                    hash.insert(key, self.value(depth + 1));
                }
                _ => self.at += 1,
            }
        }
        Value::Object(hash)
    }

    /// `-> { "now()" }`: what the database computes.
    fn lambda(&mut self) -> Value {
        let mut text = Value::Null;
        while let Some(token) = self.peek().cloned() {
            self.at += 1;
            match token {
                Token::Text(inside) => text = Value::String(inside),
                Token::Mark('}') | Token::Newline => break,
                _ => {}
            }
        }
        json!({ "function": text })
    }
}
