//! The frame of a page: its style, its scripts, and what it may not do.

use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

const UPLOT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../assets/uplot/LICENSE");
const SCRIPT: &str = include_str!("../../assets/report.js");
const STYLE: &str = include_str!("../../assets/report.css");

/// A page of this title.
pub(super) fn page(title: &str, body: &Markup) -> Markup {
    let uplot = format!("/*\n{UPLOT_LICENCE}*/\n{UPLOT}");
    let style = format!("{UPLOT_STYLE}\n{STYLE}");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&[&uplot, SCRIPT], &style));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("iotbench ", env!("CARGO_PKG_VERSION")));
                title { (title) " – iotbench" }
                style { (PreEscaped(&style)) }
            }
            body {
                button #theme type="button" hidden aria-label="Switch between light and dark" {}
                main { (body) }
                footer {
                    "Made by iotbench " (env!("CARGO_PKG_VERSION")) ". Response time runs from the intended start of an \
                    operation, service time from its send. A dash is a figure that is not known or that the sample does not \
                    support; it is never a 0. Plots by uPlot (MIT licence, in this page's source)."
                }
                script { (PreEscaped(&uplot)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// Nothing is loaded, nothing but these scripts runs, nothing is sent.
fn policy(scripts: &[&str], style: &str) -> String {
    let digest = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let scripts: Vec<String> = scripts.iter().map(|script| digest(script)).collect();
    format!(
        "default-src 'none'; script-src {}; style-src {}; base-uri 'none'; form-action 'none'",
        scripts.join(" "),
        digest(style)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_others_are_those_that_their_readme_names() {
        let readme = include_str!("../../assets/uplot/README.md");
        for (file, content) in [("uPlot.iife.min.js", UPLOT), ("uPlot.min.css", UPLOT_STYLE)] {
            let line = format!("| `{file}` | `{:x}` |", Sha256::digest(content));
            assert!(readme.contains(&line), "{line}");
        }
        assert!(UPLOT_LICENCE.starts_with("The MIT License"));
    }

    #[test]
    fn no_script_or_style_can_end_its_element() {
        for text in [UPLOT, SCRIPT, UPLOT_LICENCE] {
            assert!(!text.contains("</script") && !text.contains("<!--"));
        }
        assert!(!STYLE.contains("</style") && !UPLOT_STYLE.contains("</style"));
    }

    /// Relative luminance of `#rrggbb` (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let part = |place: usize| {
            let value = f64::from(u8::from_str_radix(&colour[place..place + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The light and the dark value of a colour of the style.
    fn colours(name: &str) -> [&'static str; 2] {
        let (_, rest) = STYLE.split_once(&format!("--{name}: light-dark(")).unwrap();
        let (light, rest) = rest.split_once(", ").unwrap();
        [light, rest.split_once(')').unwrap().0]
    }

    #[test]
    fn text_and_lines_stand_out_from_the_page_in_both_themes() {
        let papers = colours("paper").into_iter().chain(colours("panel")).collect::<Vec<_>>();
        let texts = ["ink", "dim", "accent", "good", "bad", "mark"].map(|name| (name.to_owned(), 4.5));
        let lines = (0..8).map(|number| (format!("series-{number}"), 3.0));
        for (name, least) in texts.into_iter().chain(lines) {
            let [light, dark] = colours(&name);
            for (colour, papers) in [(light, [papers[0], papers[2]]), (dark, [papers[1], papers[3]])] {
                for paper in papers {
                    let found = contrast(colour, paper);
                    assert!(found >= least, "{name} {colour} on {paper}: {found:.2}");
                }
            }
        }
    }
}
