//! Command lines in fenced blocks.

/// A call of the program in a document.
#[derive(Debug)]
pub struct Call {
    /// The line, from 1.
    pub line: usize,
    /// What follows the program's name.
    pub words: Vec<String>,
    /// Whether another program reads what it prints.
    pub is_piped: bool,
}

/// Every line in a fenced block that calls the program; one that ends with `\` goes on.
pub fn calls(text: &str) -> Vec<Call> {
    let (mut fenced, mut found, mut begun) = (false, Vec::new(), String::new());
    for (place, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
            begun.clear();
            continue;
        }
        if !fenced {
            continue;
        }
        begun.push_str(line);
        if begun.ends_with('\\') {
            begun.pop();
            continue;
        }
        let whole = std::mem::take(&mut begun);
        let call = ["iotbench ", "cargo run --release -- "].iter().find_map(|program| whole.strip_prefix(program));
        found.extend(call.map(|call| read(place + 1, call)));
    }
    found
}

fn read(line: usize, call: &str) -> Call {
    let (words, is_piped) = words(&call.replace('…', "x"));
    Call { line, words, is_piped }
}

/// The words as a shell would read them, up to a comment (`#`, or what two spaces set apart), a pipe, or a redirection.
fn words(call: &str) -> (Vec<String>, bool) {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = call.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(letter),
            '\'' | '"' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            ' ' => {
                words.extend(word.take());
                if letters.peek() == Some(&' ') {
                    break;
                }
            }
            '#' if word.is_none() => break,
            '|' => {
                words.extend(word.take());
                return (words, true);
            }
            '>' | ';' | '&' => break,
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    (words, false)
}

#[test]
fn a_line_is_read_as_a_shell_reads_it() {
    let text = "iotbench no\n```\niotbench run -p x \\\n  --criterion 'p99<5 ms'   a comment\niotbench show … > file\n\
                cargo run --release -- generate | head\niotbench datasets # all\n```\n";
    let calls: Vec<_> = calls(text).into_iter().map(|call| (call.line, call.words.join("_"), call.is_piped)).collect();
    let expected = [(4, "run_-p_x_--criterion_p99<5 ms", false), (5, "show_x", false), (6, "generate", true)];
    let expected = expected.into_iter().chain([(7, "datasets", false)]);
    assert_eq!(calls, expected.map(|(line, words, piped)| (line, words.to_owned(), piped)).collect::<Vec<_>>());
}
