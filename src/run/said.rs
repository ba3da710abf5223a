//! What programs say of files that they could not have: the kernel tells nobody else of a refusal to them. Pure.

/// Lines that are looked at, of those that speak of a refusal.
const LINES: usize = 100;

const WORDS: &str = "permission denied";

/// Names of files in lines that say `Permission denied`, as C libraries, Node, Python, Go and Ruby word it. What is no name
/// may be among them: whoever knows what is there has to look.
pub fn denied(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.to_ascii_lowercase().contains(WORDS));
    let mut names: Vec<String> = lines.take(LINES).flat_map(names).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn names(line: &str) -> Vec<&str> {
    let quoted = quoted(line);
    if !quoted.is_empty() {
        return quoted;
    }
    // `cat: /x: Permission denied`, `sh: 1: cannot create /x: …`, `… @ rb_sysopen - /x (Errno::EACCES)`
    let parts = line.split(": ").filter_map(|part| {
        let part = part.split(" (").next()?;
        part.split_whitespace().next_back()
    });
    parts.filter(|word| word.contains(['/', '.'])).collect()
}

/// `'/x'`, `"/x"`, `‘/x’`
fn quoted(line: &str) -> Vec<&str> {
    let alike = ['\'', '"']
        .into_iter()
        .flat_map(|mark| line.split(mark).skip(1).step_by(2));
    let apart = line.split('‘').skip(1).filter_map(|piece| piece.split('’').next());
    let all = alike.chain(apart);
    all.filter(|name| name.contains(['/', '.']) && !name.contains(' '))
        .collect()
}
