//! A state as a picture. Pure.

use super::state::{REMEMBERED, State};
use iotbench_engine::Phase;
use iotbench_report::figure::count;
use iotbench_session::watch::{PHASES, ProgressFigures, duration};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::{Color, Modifier, Style},
    symbols::Marker,
    text::{Line, Span},
    widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph, Row, Table, Wrap},
};

const KEYS: &str = "q ends the run and saves · Ctrl-C twice ends at once";
const KEYS_OF_SUITE: &str = "q ends the suite: --resume goes on with it · Ctrl-C twice ends at once";
const ENDING: &str = "ending: answers under way are awaited, results saved · Ctrl-C ends at once";

/// A line of a chart: its name, colour and points.
type Series<'a> = (&'static str, Color, &'a [(f64, f64)]);

/// Draws the whole picture. `ending`: the user has asked for the end.
pub(super) fn draw(frame: &mut Frame<'_>, state: &State, ending: bool) {
    let roles = u16::try_from(state.run.resources.rows().count()).unwrap_or(u16::MAX).clamp(1, 6);
    let first_lines = head_lines(state);
    let rows = [
        Constraint::Length(u16::try_from(first_lines.len()).unwrap_or(u16::MAX)),
        Constraint::Min(6),
        Constraint::Length(roles + 3),
        Constraint::Length(6),
        Constraint::Length(1),
    ];
    let [head, charts, resources, foot, keys] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(Paragraph::new(first_lines), head);
    let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
    let [left, right] = Layout::horizontal(halves).areas(charts);
    throughput(frame, left, state);
    response(frame, right, state);
    frame.render_widget(resource_table(state), resources);
    let [left, right] = Layout::horizontal([Constraint::Length(34), Constraint::Min(20)]).areas(foot);
    frame.render_widget(Paragraph::new(counts(state)).block(Block::bordered().title(" Counts ")), left);
    frame.render_widget(events(state), right);
    let keys_of = if state.among.is_empty() { KEYS } else { KEYS_OF_SUITE };
    let (text, style) = if ending { (ENDING, Style::new().fg(Color::Yellow)) } else { (keys_of, dim()) };
    frame.render_widget(Paragraph::new(text).style(style), keys);
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

/// Where the suite is, if it is of one; what runs, the phases with the present one marked, and where it is in that.
fn head_lines(state: &State) -> Vec<Line<'static>> {
    let phase = state.run.course.phase();
    let of = |other: Phase| {
        let style = if other == phase { bold().add_modifier(Modifier::REVERSED) } else { dim() };
        [Span::styled(format!(" {} ", other.name()), style), Span::raw(" ")]
    };
    let mut place = state.run.place();
    place.extend(Some(state.run.course.note().to_owned()).filter(|note| !note.is_empty()));
    let among = Some(state.among.clone()).filter(|among| !among.is_empty());
    let run = [
        Line::from(vec![Span::styled("iotbench  ", dim()), Span::styled(state.title.clone(), bold())]),
        Line::from_iter(PHASES.into_iter().flat_map(of)),
        Line::from(place.join(" · ")),
    ];
    among.map(Line::from).into_iter().chain(run).collect()
}

fn throughput(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let title = state.run.second.as_ref().map_or_else(
        || " Throughput ".to_owned(),
        |(_, f)| format!(" {} ops/s · {} values/s ", count(f.operations_per_s), count(f.values_per_s)),
    );
    let rates = points(state, |figures| Some(figures.operations_per_s));
    let label = |value: f64| if value > 0.0 { count(whole(value)) } else { "0".into() };
    chart(frame, area, title, &[("ops/s", Color::Green, &rates[..])], label);
}

fn response(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let latest = state.run.second.as_ref().and_then(|(_, figures)| figures.p50_ns.zip(figures.p99_ns));
    let title = latest.map_or_else(
        || " Response time ".to_owned(),
        |(p50, p99)| format!(" Response p50 {} · p99 {} ", duration(p50), duration(p99)),
    );
    let (p50, p99) = (points(state, |figures| figures.p50_ns), points(state, |figures| figures.p99_ns));
    let label = |value: f64| if value > 0.0 { duration(whole(value)) } else { "0".into() };
    chart(frame, area, title, &[("p99", Color::Yellow, &p99[..]), ("p50", Color::Cyan, &p50[..])], label);
}

/// ProgressFigures by the number of their second.
fn points(state: &State, figure: impl Fn(&ProgressFigures) -> Option<u64>) -> Vec<(f64, f64)> {
    #[expect(clippy::cast_precision_loss, reason = "a picture is a few hundred dots wide")]
    let point = |(second, figures): &(u64, ProgressFigures)| Some((*second as f64, figure(figures)? as f64));
    state.seconds.iter().filter_map(point).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label of a positive figure")]
fn whole(value: f64) -> u64 {
    value as u64
}

/// Lines over the last minutes, from 0 up to their greatest.
fn chart(frame: &mut Frame<'_>, area: Rect, title: String, lines: &[Series<'_>], label: impl Fn(f64) -> String) {
    let all = || lines.iter().flat_map(|(_, _, points)| points.iter());
    let greatest = all().map(|point| point.1).fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
    let (last, length) = (all().map(|point| point.0).fold(0.0, f64::max), REMEMBERED as f64);
    let first = all().map(|point| point.0).fold(last, f64::min).max(last - length);
    let datasets = lines.iter().map(|(name, color, points)| {
        let style = Style::new().fg(*color);
        Dataset::default().name(*name).marker(Marker::Braille).graph_type(GraphType::Line).style(style).data(points)
    });
    let seconds = |at: f64| format!("{} s", count(whole(at)));
    let x = Axis::default().bounds([first, last.max(first + 1.0)]).labels([seconds(first), seconds(last)]).style(dim());
    let y = Axis::default().bounds([0.0, greatest.max(1.0) * 1.05]).labels([label(0.0), label(greatest)]).style(dim());
    let chart = Chart::new(datasets.collect()).x_axis(x).y_axis(y).block(Block::bordered().title(title));
    frame.render_widget(chart, area);
}

fn resource_table(state: &State) -> Table<'static> {
    let head = ["", "CPU", "memory", "disk read", "written", "net in", "out"];
    let widths = [
        Constraint::Min(15),
        Constraint::Length(6),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(10),
        Constraint::Length(10),
    ];
    let rows = state.run.resources.rows().map(Row::new);
    Table::new(rows, widths)
        .header(Row::new(head).style(dim()))
        .block(Block::bordered().title(" Resources, disk and network a second "))
}

/// Operations and datapoints of the load so far.
fn counts(state: &State) -> Vec<Line<'static>> {
    let (counts, errors) = (&state.run.load.counts, &state.run.load.errors);
    let mut lines = vec![
        Line::from(format!("operations ok      {:>12}", count(counts.ok))),
        Line::from(format!("datapoints acked   {:>12}", count(counts.points.acked))),
    ];
    let troubles = [
        ("failed", counts.fail),
        ("unknown", counts.unknown),
        ("dropped", counts.dropped),
        ("lost", counts.points.dropped),
    ];
    let troubles = troubles.into_iter().filter(|(_, times)| *times > 0);
    let troubles: Vec<_> = troubles.map(|(name, times)| format!("{name} {}", count(times))).collect();
    let causes: Vec<_> = errors.iter().map(|(cause, times)| format!("{cause} {}", count(*times))).collect();
    for line in [troubles, causes].into_iter().filter(|line| !line.is_empty()) {
        lines.push(Line::styled(line.join(", "), Style::new().fg(Color::Red)));
    }
    if lines.len() == 2 {
        lines.push(Line::from("no errors"));
    }
    lines
}

/// Steps that have ended and what was done to the server, the newest first.
fn events(state: &State) -> Paragraph<'static> {
    let lines: Vec<_> = state.lines.iter().rev().cloned().map(Line::from).collect();
    Paragraph::new(lines).wrap(Wrap { trim: true }).block(Block::bordered().title(" Steps and events "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_engine::{CountersSecond, Event, Overrides, Plan, Second};
    use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing, WINDOW_NS};
    use iotbench_sampler::{DiskCounters, Observation, Reading, Sample};
    use iotbench_session::{BackendWord, Job, Place, find_written_profile};
    use ratatui::{Terminal, backend::TestBackend};
    use std::time::Duration;

    /// A built-in profile as planned on a database.
    fn planned(profile: &str, database: &str) -> Plan {
        let (written, word) = (find_written_profile(profile).unwrap(), BackendWord::read(database).unwrap());
        let job = Job::new(&written, word, &Overrides::default(), &[], false).unwrap();
        job.plans("test", &Place::nowhere()).next().unwrap().unwrap().plan
    }

    fn picture(state: &State, ending: bool, columns: u16, rows: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| draw(frame, state, ending)).unwrap();
        terminal.backend().to_string()
    }

    fn reading(at_s: u64, cpu_s: f64) -> Reading {
        let sample = Sample {
            at: Duration::from_secs(at_s),
            cpu_s,
            processes: 1,
            pss_bytes: Some(3 << 20),
            disk: DiskCounters {
                read_bytes: Some(0),
                written_bytes: Some(at_s * (5 << 20)),
                ..DiskCounters::default()
            },
            ..Sample::default()
        };
        Reading { role: "mongod".into(), node: 1, observation: Observation::Sampled(sample) }
    }

    /// Two seconds of 1,000 operations of 2 ms with 10 datapoints, and one that failed.
    fn measuring() -> State {
        let mut state = State::new(&planned("pmu_write", "sqlite"), "");
        state.event(&Event::Phase { phase: Phase::Measure, length_ns: None });
        let kinds = [OperationKind { name: "write".into(), requests: Requests::One }];
        let mut recorder = Recorder::new(kinds.into());
        for number in 0..2_001 {
            let due_ns = if number == 2_000 { 1_500_000_000 } else { number * 1_000_000 };
            let timing = Timing::new(due_ns, due_ns, due_ns + 2_000_000).unwrap();
            let outcome = if number == 2_000 { Outcome::Fail } else { Outcome::Ok };
            recorder.offer(0, due_ns, 1);
            recorder.start(0, due_ns, due_ns, 1);
            recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 10, 150, 0));
        }
        recorder.error(1, "server", "no");
        for (number, window) in recorder.take_windows(2 * WINDOW_NS).iter().enumerate() {
            let readings = [reading(number as u64, number as f64 * 0.5)];
            let second = Second {
                window,
                phase: Phase::Measure,
                users: 20,
                readings: &readings,
                others: None,
                counters: CountersSecond::default(),
            };
            state.event(&Event::Second(second));
        }
        state
    }

    #[test]
    fn all_that_is_asked_for_is_on_a_terminal_of_80_columns() {
        let text = picture(&measuring(), false, 80, 24);
        let expected = [
            "pmu_write on sqlite:wide",
            " measure ",
            "20 users",
            "1,000 ops/s",
            "150,000 values/s",
            "p50 2.00 ms",
            "p99 2.00 ms",
            "mongod 1",
            "50 %",
            "3.00 MiB",
            "5.00 MiB",
            "1,998",
            "failed 1",
            "server 1",
            "q ends the run",
        ];
        for word in expected {
            assert!(text.contains(word), "{word} is missing:\n{text}");
        }
    }

    #[test]
    fn a_run_of_a_suite_says_where_it_is_and_what_a_key_ends() {
        let text = picture(&State { among: "suite hof: 3 of 9 runs done".into(), ..measuring() }, false, 80, 24);
        assert!(text.contains("suite hof: 3 of 9 runs done") && text.contains("q ends the suite"), "{text}");
        assert!(text.contains("pmu_write on sqlite:wide") && text.contains("20 users"), "{text}");
    }

    #[test]
    fn the_end_is_told_and_no_size_is_too_small() {
        assert!(picture(&measuring(), true, 80, 24).contains("answers under way are awaited"));
        for (columns, rows) in [(1, 1), (10, 3), (40, 12), (300, 100)] {
            picture(&measuring(), false, columns, rows);
            picture(&State::new(&planned("machine_write", "sqlite"), "suite"), false, columns, rows);
        }
    }
}
