//! Pages as a browser shows them.

use serde_json::{Value, json};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// A page is drawn within a second; a machine that does much else takes its time.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// What a line of the console has in the browser's log.
const MARK: &str = ":CONSOLE";

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Shows pages one after the other in frames, waits until each is drawn, and tells the console what it sees.
const LOOK: &str = r#"<!doctype html><meta charset="utf-8"><body><script>
const frame = (times) => new Promise((done) => {
  const next = (left) => (left ? requestAnimationFrame(() => next(left - 1)) : done());
  next(times);
});
// Pixels of the colour of any of its lines, within a little of what smoothing makes of it: a line may lie under another.
const pixels = (view, place) => {
  const canvas = place.querySelector('canvas');
  if (!canvas) return 0;
  const chart = JSON.parse(place.parentElement.querySelector('script').textContent);
  const probe = view.document.createElement('i');
  view.document.body.append(probe);
  const colours = chart.lines.map((line) => {
    probe.style.color = `var(--series-${line.colour % 8})`;
    return view.getComputedStyle(probe).color.match(/\d+/g).map(Number);
  });
  probe.remove();
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let at = 0; at < data.length; at += 4) {
    const is = (colour) => [0, 1, 2].every((part) => Math.abs(data[at + part] - colour[part]) < 12);
    if (data[at + 3] > 100 && colours.some(is)) found += 1;
  }
  return found;
};
const empty = (view, places) => places.filter((place) => pixels(view, place) < 10)
  .map((place) => place.parentElement.querySelector('h3').textContent);
const look = async ([page, width, scheme]) => {
  const shown = document.createElement('iframe');
  shown.style.cssText = `width: ${width}px; height: 3000px; border: 0; color-scheme: ${scheme}`;
  const loaded = new Promise((done) => { shown.onload = done; });
  shown.src = page;
  document.body.append(shown);
  await loaded;
  const view = shown.contentWindow;
  const { document: its } = view;
  for (const run of its.querySelectorAll('details.run')) run.open = true;
  const places = [...its.querySelectorAll('.plot')];
  for (let tries = 0; tries < 200 && places.some((place) => !place.querySelector('canvas')); tries += 1) await frame(1);
  await frame(5);
  const background = () => view.getComputedStyle(its.body).backgroundColor;
  const found = {
    page,
    plots: places.length,
    empty: empty(view, places),
    tables: its.querySelectorAll('figure.chart details.table tbody tr:first-child').length,
    reachable: its.querySelectorAll('.u-legend th[tabindex="0"]').length,
    overflow_px: its.documentElement.scrollWidth - its.documentElement.clientWidth,
    background: background(),
  };
  its.getElementById('theme').click();
  await frame(5);
  Object.assign(found, {
    background_after_toggle: background(),
    empty_after_toggle: empty(view, places),
    hacked: window.hacked === true || view.hacked === true,
  });
  shown.remove();
  return found;
};
(async () => {
  for (const asked of ASKED) console.log('looked: ' + JSON.stringify(await look(asked)));
  console.log('looked: all');
})();
</script>"#;

/// A browser of this machine.
pub struct Browser {
    program: PathBuf,
}

impl Browser {
    /// The one that `IOTBENCH_CHROMIUM` names, or the first in PATH. Without one, a test is passed over, and fails where
    /// nothing may be missing.
    #[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
    pub fn find() -> Option<Self> {
        let named = std::env::var_os("IOTBENCH_CHROMIUM").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut places = std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
        let found = named.or_else(|| places.find(|place| place.is_file()));
        if found.is_none() {
            assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "chromium is not installed");
            eprintln!("skipped: chromium not found");
        }
        found.map(|program| Self { program })
    }

    /// Each page in a frame of this width and colour scheme: what is there to see. No page may write to the console, as it
    /// does of every error and of everything that its policy refuses.
    pub fn look(&self, folder: &Path, pages: &[(&Path, u32, &str)]) -> Vec<Value> {
        let asked: Vec<Value> = pages
            .iter()
            .map(|(page, width, scheme)| json!([page.file_name().unwrap().to_str(), width, scheme]))
            .collect();
        let look = folder.join("look.html");
        fs::write(&look, LOOK.replace("ASKED", &json!(asked).to_string())).unwrap();
        let mut browser = self.command(folder, &[], &look).stderr(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(browser.stderr.take().unwrap());
        let (line_out, lines) = mpsc::sync_channel(64);
        let reader = thread::spawn(move || said.lines().map_while(Result::ok).try_for_each(|line| line_out.send(line)));
        let mut looks = Vec::new();
        let ended = loop {
            match lines.recv_timeout(MAX_WAIT) {
                Ok(line) if line.contains(MARK) && line.contains("looked: all") => break Ok(()),
                Ok(line) if line.contains(MARK) => match look_in(&line) {
                    Some(look) => looks.push(look),
                    None => break Err(line),
                },
                Ok(_) => {}
                Err(e) => break Err(e.to_string()),
            }
        };
        // It would show the page for ever.
        browser.kill().unwrap();
        browser.wait().unwrap();
        drop(lines);
        let _ = reader.join();
        ended.unwrap_or_else(|complaint| panic!("{complaint}; seen until then: {looks:#?}"));
        looks
    }

    /// Prints a page and counts the sheets.
    pub fn print(&self, folder: &Path, page: &Path) -> usize {
        let pdf = folder.join("page.pdf");
        let output = self.command(folder, &[&format!("--print-to-pdf={}", pdf.display())], page).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains(MARK), "{said}");
        let bytes = fs::read(&pdf).unwrap();
        assert!(bytes.starts_with(b"%PDF"), "no PDF");
        String::from_utf8_lossy(&bytes).matches("/Type /Page\n").count()
    }

    fn command(&self, folder: &Path, arguments: &[&str], page: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command
            // Root has no sandbox; frames read one another's files; nothing is reached beyond this machine.
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"])
            .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--window-size=1300,3200"])
            .arg(format!("--user-data-dir={}", folder.join("browser").display()))
            .args(arguments)
            .arg(format!("file://{}", page.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }
}

/// What is told on a line of the console; `None`: it is a complaint.
fn look_in(line: &str) -> Option<Value> {
    let (_, told) = line.split_once("\"looked: ")?;
    serde_json::from_str(told.rsplit_once("\", source: ")?.0).ok()
}
