//! Memory, disk and the end of real process trees.
#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iotbench_sampler::{NetworkMethod, Observation, Probe, ProbeError, Sample, Sampler, Source, Subject, Target};
use procfs::process::Process;

const MIB: u64 = 1 << 20;
/// How often a hasty client sends.
const ROUNDS: u64 = 5;

/// A shell that runs `script`, which must print a line when it is ready and then wait for its standard input to end.
fn shell(script: &str) -> Child {
    let mut shell =
        Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "the script failed: {script}");
    shell
}

fn pid(child: &Child) -> i32 {
    i32::try_from(child.id()).unwrap()
}

fn tree(child: &Child) -> Probe {
    Probe::new(&Target::ProcessTree { pid: pid(child) }).unwrap()
}

fn end(mut child: Child) {
    drop(child.stdin.take());
    child.wait().unwrap();
}

/// Proportional set size by another way than the library's: every mapping of every process.
fn pss_by_mapping(root: i32) -> u64 {
    let mut pids = vec![root];
    pids.extend(procfs::process::all_processes().unwrap().filter_map(|process| {
        let stat = process.ok()?.stat().ok()?;
        (stat.ppid == root).then_some(stat.pid)
    }));
    let maps = pids.iter().flat_map(|pid| Process::new(*pid).unwrap().smaps().unwrap());
    maps.map(|map| map.extension.map["Pss"]).sum()
}

#[test]
fn shared_pages_count_once_in_pss() {
    // Eight forks share the 32 MiB of a variable with their parent.
    let script = "x=$(head -c 33554432 /dev/zero | tr '\\0' a); exec 3<&0; \
        for i in 1 2 3 4 5 6 7 8; do ( read y <&3 ) & done; echo ready; wait";
    let shell = shell(script);
    let sample = tree(&shell).sample(Duration::ZERO).unwrap();
    let truth = pss_by_mapping(pid(&shell));
    let (pss, rss) = (sample.pss_bytes.unwrap(), sample.rss_bytes.unwrap());
    println!("9 processes: RSS {} MiB, PSS {} MiB, by mapping {} MiB", rss / MIB, pss / MIB, truth / MIB);
    assert_eq!(sample.processes, 9);
    assert!(rss >= 9 * 32 * MIB);
    assert!(pss >= 32 * MIB && pss <= rss / 2);
    assert!(pss.abs_diff(truth) <= truth / 20, "{pss} against {truth}");
    let memory = sample.memory.unwrap();
    assert!(memory.anon_bytes >= 32 * MIB);
    let kinds = memory.anon_bytes + memory.shmem_bytes + memory.mapped_file_bytes.unwrap();
    assert!(kinds.abs_diff(pss) <= pss / 50, "the kinds add up: {kinds} against {pss}");
    end(shell);
}

/// Whether the file system of `path` charges writes to the processes that make them.
fn charges_writes(path: &std::path::Path) -> bool {
    let written = || Process::myself().unwrap().io().unwrap().write_bytes;
    let before = written();
    let mut file = std::fs::File::create(path).unwrap();
    file.write_all(&vec![1; 64 * 1024]).unwrap();
    file.sync_all().unwrap();
    written() - before >= 64 * 1024
}

#[test]
fn disk_writes_of_dead_children_are_kept_and_counted_once() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if !charges_writes(&folder.path().join("try")) {
        eprintln!("SKIPPED: the file system of {} does not account writes", folder.path().display());
        return;
    }
    // Each dd is seen alive or not, is waited for by the shell, and must count once.
    let script = "cd \"$0\"; echo ready; for i in 1 2 3 4 5 6 7 8; do \
        dd if=/dev/zero of=f$i bs=1M count=4 conv=fsync 2>/dev/null; done; echo done; read end";
    let mut shell = Command::new("sh")
        .args(["-c", script])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let mut probe = tree(&shell);
    let epoch = Instant::now();
    let reader = std::thread::spawn(move || lines.next().unwrap().unwrap());
    let mut samples: Vec<Sample> = Vec::new();
    while !reader.is_finished() {
        samples.push(probe.sample(epoch.elapsed()).unwrap());
    }
    samples.push(probe.sample(epoch.elapsed()).unwrap());
    let written: Vec<u64> = samples.iter().map(|sample| sample.disk.written_bytes.unwrap()).collect();
    assert!(written.is_sorted(), "a counter fell");
    let (total, truth) = (*written.last().unwrap(), 32 * MIB);
    println!("wrote {truth}, counted {total} in {} samples", samples.len());
    assert!(total >= truth && total <= truth + truth / 100, "{total} against {truth}");
    end(shell);
}

#[test]
fn an_unreaped_tree_gives_its_final_figures_once() {
    let mut child = shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo ready; read end");
    let mut probe = tree(&child);
    let alive = probe.sample(Duration::ZERO).unwrap();
    child.kill().unwrap();
    while Process::new(pid(&child)).unwrap().stat().unwrap().state != 'Z' {
        std::thread::yield_now();
    }
    let last = probe.sample(Duration::from_secs(1)).unwrap();
    assert_eq!((alive.processes, last.processes), (1, 0));
    assert!(last.cpu_s >= alive.cpu_s && alive.cpu_s > 0.0);
    assert!(matches!(probe.sample(Duration::from_secs(2)), Err(ProbeError::Gone)));
    child.wait().unwrap();
    assert!(matches!(Probe::new(&Target::ProcessTree { pid: pid(&child) }), Err(ProbeError::NoSuchProcess { .. })));
}

#[test]
fn one_subject_ending_disturbs_no_other() {
    let (stays, ends) = (shell("echo ready; read end"), shell("echo ready; read end"));
    let subject = |role: &str, child: &Child| Subject {
        role: role.to_owned(),
        node: 1,
        target: Target::ProcessTree { pid: pid(child) },
    };
    let subjects = vec![subject("stays", &stays), subject("ends", &ends)];
    let (send, ticks) = std::sync::mpsc::sync_channel(100_000);
    let sampler = Sampler::start(Instant::now(), Duration::from_millis(5), subjects, move |readings| {
        let _ = send.try_send(readings.to_vec());
    })
    .unwrap();
    let first = ticks.recv().unwrap();
    assert!(first.iter().all(|reading| matches!(reading.observation, Observation::Sampled(_))));
    end(ends);
    let with_gone = ticks.iter().find(|readings| readings[1].observation == Observation::Gone).unwrap();
    assert!(matches!(with_gone[0].observation, Observation::Sampled(_)));
    let report = sampler.stop();
    assert_eq!(report.subjects[0].gone_at, None);
    assert!(report.subjects[1].gone_at.is_some() && report.subjects[1].samples >= 1);
    assert_eq!((&*report.subjects[1].role, report.subjects[1].node), ("ends", 1));
    end(stays);
}

#[test]
fn a_tree_within_a_tree_counts_for_itself_only() {
    // A child with a child of its own.
    let shell = shell("exec 3<&0; ( ( read y <&3 ) & wait ) & echo $!; wait");
    let descendants = || tree(&shell).sample(Duration::ZERO).unwrap().processes;
    let start = Instant::now();
    while descendants() < 3 {
        assert!(start.elapsed() < Duration::from_secs(30), "the children did not come");
    }
    let inner = procfs::process::all_processes().unwrap().find_map(|process| {
        let stat = process.ok()?.stat().ok()?;
        (stat.ppid == pid(&shell)).then_some(stat.pid)
    });
    let subject = |role: &str, pid| Subject { role: role.into(), node: 0, target: Target::ProcessTree { pid } };
    let subjects = vec![subject("client", pid(&shell)), subject("server", inner.unwrap())];
    let sampler = Sampler::start(Instant::now(), Duration::from_secs(1), subjects, |_| {}).unwrap();
    let report = sampler.stop();
    let processes: Vec<_> = report.subjects.iter().map(|s| s.processes_max).collect();
    assert_eq!(processes, [Some(1), Some(2)]);
    end(shell);
}

fn only_child(parent: i32) -> i32 {
    let child = procfs::process::all_processes().unwrap().find_map(|process| {
        let stat = process.ok()?.stat().ok()?;
        (stat.ppid == parent).then_some(stat.pid)
    });
    child.unwrap()
}

/// A client that has a supervisor, which starts one server after the other and waits for each.
#[test]
fn a_server_that_is_started_again_is_followed_and_nothing_of_it_is_the_clients() {
    let server = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done; read end";
    let supervisor = "sh -c \"$0\"; sh -c \"$0\"; read end";
    let mut client = Command::new("sh")
        .args(["-c", "sh -c \"$0\" \"$1\"; read end", supervisor, server])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(client.stdout.take().unwrap()).lines();
    let mut input = client.stdin.take().unwrap();
    let mut has_worked = || {
        assert_eq!(lines.next().unwrap().unwrap(), "done");
        only_child(only_child(pid(&client)))
    };
    let first = has_worked();
    let worked_s = Probe::new(&Target::ProcessTree { pid: first }).unwrap().sample(Duration::ZERO).unwrap().cpu_s;
    let subject = |role: &str, pid| Subject { role: role.into(), node: 0, target: Target::ProcessTree { pid } };
    let subjects = vec![subject("client", pid(&client)), subject("server", first)];
    // It looks at the beginning and at the end.
    let (send, looked) = std::sync::mpsc::sync_channel(1);
    let sampler = Sampler::start(Instant::now(), Duration::from_secs(3600), subjects, move |_| {
        let _ = send.try_send(());
    })
    .unwrap();
    looked.recv().unwrap();
    input.write_all(b"\n").unwrap();
    let second = has_worked();
    assert_ne!(first, second);
    sampler.follow("server", 0, second);
    let report = sampler.stop();
    let [of_client, of_server] = &report.subjects[..] else { panic!("{report:?}") };
    assert!(worked_s > 0.0);
    assert!(of_server.cpu.total_s.unwrap() > worked_s / 2.0, "the same work: {worked_s} s, {of_server:?}");
    assert!(
        of_client.cpu.total_s.unwrap() < worked_s / 4.0,
        "neither server is the client's: {worked_s} s, {of_client:?}"
    );
    assert_eq!((of_client.processes_max, of_server.processes_max, of_server.gone_at), (Some(1), Some(1), None));
    drop(input);
    client.wait().unwrap();
}

#[test]
fn a_window_excludes_what_was_before_and_after() {
    let me = Target::ProcessTree { pid: i32::try_from(std::process::id()).unwrap() };
    let subject = Subject { role: "client".to_owned(), node: 0, target: me };
    let epoch = Instant::now();
    let (send, ticks) = std::sync::mpsc::sync_channel(1);
    let sampler = Sampler::start(epoch, Duration::from_millis(10), vec![subject], move |_| {
        let _ = send.try_send(());
    })
    .unwrap();
    let tick = || ticks.recv().unwrap();
    tick();
    let begun_after = epoch.elapsed();
    sampler.begin_window(epoch.elapsed());
    (0..3).for_each(|_| tick());
    sampler.end_window(epoch.elapsed());
    (0..3).for_each(|_| tick());
    let ended_before = epoch.elapsed();
    let report = sampler.stop();
    let summary = &report.subjects[0];
    assert!(summary.from.unwrap() >= begun_after && summary.to.unwrap() <= ended_before);
    assert!(summary.samples >= 2 && summary.samples <= report.samples + 2);
    assert_eq!(summary.method.source, Source::ProcessTree);
}

/// What one core can do in a second is not done in ten: that is told, and no tenth of the use.
#[test]
fn what_was_used_in_a_window_whose_first_look_came_late_is_not_known() {
    let me = i32::try_from(std::process::id()).unwrap();
    let subject = Subject { role: "client".to_owned(), node: 0, target: Target::ProcessTree { pid: me } };
    let began = Instant::now().checked_sub(Duration::from_secs(9)).unwrap();
    let sampler = Sampler::start(began, Duration::from_secs(3600), vec![subject], |_| {}).unwrap();
    sampler.begin_window(Duration::ZERO);
    sampler.end_window(Duration::from_secs(9));
    let late = sampler.stop().subjects.remove(0);
    assert!(late.is_part && late.cpu.total_s.is_none() && late.disk.written_bytes.is_none(), "{late:?}");
    assert!(late.memory.rss_bytes_max.is_some(), "a size is what it was");
}

#[test]
fn what_does_not_exist_is_refused_with_its_name() {
    let subject = Subject { role: "server".to_owned(), node: 3, target: Target::ProcessTree { pid: i32::MAX } };
    let error = Sampler::start(Instant::now(), Duration::from_secs(1), vec![subject], |_| {}).unwrap_err();
    assert!(error.to_string().contains("server 3") && error.to_string().contains("2147483647"), "{error}");
    assert!(Sampler::start(Instant::now(), Duration::ZERO, Vec::new(), |_| {}).is_err());
}

/// Not a test of its own: the process that `what_short_connections_carried_is_told` measures. At each line it sends 1 MiB on the
/// connection that it has, ends that and ten shorter ones, of 100 KiB each, and opens another.
#[test]
#[ignore = "run by another test in a process of its own"]
fn hasty() {
    let Ok(address) = std::env::var("SAMPLER_TEST_ADDRESS") else { return };
    let connect = || std::net::TcpStream::connect(&address).unwrap();
    let say_and_end = |mut stream: std::net::TcpStream, bytes: u64| {
        stream.write_all(&vec![7; usize::try_from(bytes).unwrap()]).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        std::io::Read::read_to_end(&mut stream, &mut Vec::new()).unwrap();
    };
    let mut stream = connect();
    println!("\nready");
    for _ in std::io::stdin().lines().map_while(Result::ok) {
        say_and_end(stream, MIB);
        (0..10).for_each(|_| say_and_end(connect(), 100 << 10));
        stream = connect();
        println!("\nready");
    }
}

/// Where whatever is sent is taken and thrown away.
fn sink() -> std::net::SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || std::io::copy(&mut stream, &mut std::io::sink()));
        }
    });
    address
}

fn start_hasty(address: std::net::SocketAddr) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process_tree::hasty", "--ignored", "--nocapture"])
        .env("SAMPLER_TEST_ADDRESS", address.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Counts that are read from sockets hold nothing of those that are gone; the kernel tells what they carried.
#[test]
fn what_short_connections_carried_is_told() {
    let address = sink();
    let mut hasty = start_hasty(address);
    let mut lines = BufReader::new(hasty.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut is_ready = || lines.find(|line| line.contains("ready")).unwrap();
    is_ready();
    let mut probe = tree(&hasty);
    let before = probe.sample(Duration::ZERO).unwrap();
    if probe.method().network != Some(NetworkMethod::Socket) {
        eprintln!("SKIPPED: this kernel lists no TCP sockets");
        return end(hasty);
    }
    let in_a_round = MIB + 10 * (100 << 10);
    let (mut sent_before, mut exact) = (0, 0);
    let mut look = |seconds| {
        let after = probe.sample(Duration::from_secs(seconds)).unwrap();
        let in_doubt = after.network.doubtful_bytes - before.network.doubtful_bytes;
        let is_marked = after.network.missed > before.network.missed || in_doubt >= in_a_round / 100;
        (after.network.tx_bytes.unwrap() - before.network.tx_bytes.unwrap(), is_marked)
    };
    for round in 1..=ROUNDS {
        hasty.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        is_ready();
        let (sent, _) = look(round);
        // The opening and the end of a connection are counted as a byte each. What the kernel tells late is in a later round: all of
        // them together are never too much.
        let truth = round * in_a_round;
        assert!(sent <= truth + 40 * round, "{sent} of {truth}");
        exact += u32::from((in_a_round..=in_a_round + 40).contains(&(sent - sent_before)));
        sent_before = sent;
    }
    // A busy machine may be late to tell of one or another.
    assert!(exact > 0, "never all of it");
    let truth = ROUNDS * in_a_round;
    let told = (ROUNDS + 1..ROUNDS + 1_000).map(|second| {
        std::thread::sleep(Duration::from_millis(10));
        look(second)
    });
    let mut last = (sent_before, false);
    assert!(
        told.inspect(|&told| last = told).any(|(sent, is_marked)| sent >= truth || is_marked),
        "{} of {truth}, and no word of what is missing",
        last.0
    );
    assert!(last.0 <= truth + 40 * ROUNDS, "{} of {truth}", last.0);
    end(hasty);
}

/// This process has a connection to the same place, so that of those of the target that nobody saw it is not known whose they
/// were: what they carried is in doubt, unless the kernel did not tell of them at all.
#[test]
fn what_may_have_been_somebody_elses_is_told_as_in_doubt() {
    let address = sink();
    let ours = std::net::TcpStream::connect(address).unwrap();
    let mut hasty = start_hasty(address);
    let mut lines = BufReader::new(hasty.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut is_ready = || lines.find(|line| line.contains("ready")).unwrap();
    is_ready();
    let mut probe = tree(&hasty);
    // Somebody else's is known as such at the second listing.
    probe.sample(Duration::ZERO).unwrap();
    let before = probe.sample(Duration::from_secs(100)).unwrap();
    if probe.method().network != Some(NetworkMethod::Socket) {
        eprintln!("SKIPPED: this kernel lists no TCP sockets");
        return end(hasty);
    }
    hasty.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
    is_ready();
    // A connection may outlive its process for a moment; the limit only ends a test that would hang.
    let began = Instant::now();
    for second in 200.. {
        let after = probe.sample(Duration::from_secs(second)).unwrap();
        let in_doubt = after.network.doubtful_bytes - before.network.doubtful_bytes;
        if in_doubt >= 10 * (100 << 10) || after.network.missed > before.network.missed {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{before:?} {after:?}");
    }
    drop(ours);
    end(hasty);
}

/// Not a test of its own: the process that `loopback_traffic_is_told_by_socket` measures. It sends 8 MiB, receives
/// 1 MiB, and keeps its connection until its standard input ends.
#[test]
#[ignore = "run by another test in a process of its own"]
fn talker() {
    let Ok(address) = std::env::var("SAMPLER_TEST_ADDRESS") else { return };
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    stream.write_all(&vec![7; usize::try_from(8 * MIB).unwrap()]).unwrap();
    std::io::Read::read_exact(&mut stream, &mut vec![0; usize::try_from(MIB).unwrap()]).unwrap();
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[test]
fn loopback_traffic_is_told_by_socket() {
    use std::io::Read;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut talker = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "process_tree::talker", "--ignored", "--nocapture"])
        .env("SAMPLER_TEST_ADDRESS", address.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut served, _) = listener.accept().unwrap();
    served.read_exact(&mut vec![0; usize::try_from(8 * MIB).unwrap()]).unwrap();
    served.write_all(&vec![0; usize::try_from(MIB).unwrap()]).unwrap();
    // As much again between sockets of this process, which is none of the talker's business.
    let mut foreign = std::net::TcpStream::connect(address).unwrap();
    let (mut other_end, _) = listener.accept().unwrap();
    let drain = std::thread::spawn(move || other_end.read_exact(&mut vec![0; usize::try_from(8 * MIB).unwrap()]));
    foreign.write_all(&vec![0; usize::try_from(8 * MIB).unwrap()]).unwrap();
    drain.join().unwrap().unwrap();
    let mut lines = BufReader::new(talker.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.find(|line| line.contains("ready")).unwrap();

    let mut probe = tree(&talker);
    let sample = probe.sample(Duration::ZERO).unwrap();
    if probe.method().network == Some(NetworkMethod::Socket) {
        let near = |bytes: Option<u64>, truth: u64| bytes.unwrap().abs_diff(truth) <= truth / 100;
        assert!(near(sample.network.tx_bytes, 8 * MIB), "sent {:?}", sample.network.tx_bytes);
        assert!(near(sample.network.rx_bytes, MIB), "received {:?}", sample.network.rx_bytes);
    } else {
        eprintln!("SKIPPED: this kernel lists no TCP sockets");
    }
    end(talker);
}
