//! What databases answer over HTTP, met through the backends themselves: a server in this process says what the input says.
//!
//! The first bytes are the backend, the layout and what it is asked to do; the rest are answers, one a request. One that begins
//! with `HTTP/` is sent as it is, and the connection closed; any other is the body of a good answer. When there is none
//! left, nobody answers any more. Whatever is answered, the call ends, a chunk of rows is whole and of bounded length, and nothing is
//! counted that was not there.

#![no_main]

use iotbench_backends::BACKENDS;
use iotbench_core::{
    Aggregate, Backend, Batch, BucketWidth, CHUNK_ROWS, Chunk, Consecutive, Database, Devices, Direction, Endpoint,
    Error, Fill, Items, Layout, OpenRequest, Percentile, Predicate, Query, Rollup, Run, Settings, TableSpec, Target,
    TimeRange, Value,
};
use iotbench_fuzz::{folder, parts, table, with_tags};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use std::{
    cell::RefCell,
    collections::VecDeque,
    fs,
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    task::JoinSet,
    time::timeout,
};

/// Nothing that is answered here takes so long.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_ANSWERS: usize = 12;
const MAX_LOOKS: usize = 30;

/// The databases over HTTP.
static OVER_HTTP: LazyLock<Vec<&'static dyn Backend>> = LazyLock::new(|| {
    let is_here = |backend: &&&dyn Backend| !["memory", "blackhole"].contains(&backend.info().name);
    BACKENDS.iter().filter(is_here).copied().collect()
});

struct Stub {
    runtime: Runtime,
    listener: TcpListener,
    port: u16,
}

thread_local! {
    static STUB: RefCell<Stub> = RefCell::new({
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        Stub { runtime, listener, port }
    });
}

type Answers = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// Whether a whole request has come.
async fn has_asked(stream: &mut TcpStream) -> bool {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if bytes.len() - end - 4 >= length.parse().unwrap_or(0) {
                return true;
            }
        }
        if !matches!(stream.read_buf(&mut bytes).await, Ok(1..)) {
            return false;
        }
    }
}

async fn answer(mut stream: TcpStream, answers: Answers) {
    while has_asked(&mut stream).await {
        let Some(next) = answers.lock().unwrap().pop_front() else { return };
        let is_whole = next.starts_with(b"HTTP/");
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", next.len());
        let bytes = if is_whole { next } else { [head.as_bytes(), &next].concat() };
        if stream.write_all(&bytes).await.is_err() || is_whole {
            return;
        }
    }
}

async fn serve(listener: &TcpListener, answers: Answers) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(answer(stream, Arc::clone(&answers)));
    }
}

fn open(backend: &dyn Backend, port: u16, table: TableSpec) -> Arc<dyn Database> {
    let mut settings = match backend.info().name {
        "influxdb2" => json!({ "language": "flux" }),
        "victoriametrics" => json!({ "gzip": false }),
        _ => json!({}),
    };
    let url = if backend.info().name == "influxdb2" {
        let token = folder().join("token");
        fs::write(&token, "s3cret").unwrap();
        settings["token_file"] = token.to_str().unwrap().into();
        format!("http://127.0.0.1:{port}/?org=plant")
    } else {
        format!("http://me:s3cret@127.0.0.1:{port}/")
    };
    let target = Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], ..Target::default() };
    let settings = Settings(serde_json::from_value(settings).unwrap());
    backend.open(OpenRequest { target, settings, table }).unwrap()
}

fn queries() -> Vec<Query> {
    let (devices, signals, range) = (Devices::All, vec![0, 1], TimeRange::half_open(0, 2_000_000_000_000_000_000));
    let (device, signal, limit, from_ns) = (1, 0, 3, 1_700_000_000_000_000_000);
    let aggregates = Aggregate::ALL.to_vec();
    let percentile = Percentile::parse("p99.9").map(Aggregate::Percentile);
    let percentiles = || vec![Aggregate::Max, percentile.unwrap()];
    let percentiles_of_buckets = Query::Buckets {
        devices: Devices::All,
        signals: vec![0, 1],
        aggregates: percentiles(),
        range,
        width: BucketWidth::SECOND,
    };
    let predicate = Predicate::Above(1.0);
    let filter = |all_signals| Query::Filter { devices: Devices::All, signal, predicate, range, all_signals };
    let total = |newest| Query::TotalBuckets {
        devices: Devices::All,
        signals: vec![0, 1],
        aggregates: vec![Aggregate::Mean, Aggregate::Count],
        range,
        width: BucketWidth::SECOND,
        newest,
    };
    let by_tag = |width| Query::TagFigures {
        tag: 0,
        signals: vec![0, 1],
        aggregates: vec![Aggregate::Mean, Aggregate::Count],
        range,
        width,
    };
    let having = |at_least| {
        let (devices, signals, aggregates) = (Devices::All, vec![signal], vec![Aggregate::Mean]);
        let of = Query::Buckets { devices, signals, aggregates, range, width: BucketWidth::SECOND };
        Query::Having { of: Box::new(of), signal, predicate, at_least, per: None }
    };
    let filled = || {
        let (devices, signals, aggregates) = (Devices::All, vec![signal], vec![Aggregate::Mean]);
        let range = TimeRange::half_open(from_ns, from_ns + 5_000_000_000);
        let of = Query::Buckets { devices, signals, aggregates, range, width: BucketWidth::SECOND };
        Query::Filled { of: Box::new(of), fill: Fill::Linear }
    };
    let figures = |aggregates: &[Aggregate]| {
        let (devices, signals, aggregates) = (Devices::All, vec![signal], aggregates.to_vec());
        Query::Aggregates { devices, signals, aggregates, range }
    };
    let over_some = |of, indicator| Query::Where { of: Box::new(of), signal, predicate, indicator };
    let rollup = |of, items, figure| {
        let rollup = Rollup { items, by: vec![0], every: Some(BucketWidth::SECOND), figure };
        Query::Rollup { of: Box::new(of), rollup }
    };
    let means = || {
        let (devices, signals, aggregates) = (Devices::All, vec![signal], vec![Aggregate::Mean]);
        Query::Buckets { devices, signals, aggregates, range, width: BucketWidth::SECOND }
    };
    vec![
        over_some(figures(&[Aggregate::Mean]), false),
        over_some(means(), true),
        Query::Descending { of: Box::new(filter(true)) },
        Query::Descending { of: Box::new(Query::Range { devices: Devices::Some(vec![1]), signals: vec![1], range }) },
        rollup(figures(&[Aggregate::Mean]), Items::Figures { per: None }, Aggregate::Sum),
        rollup(means(), Items::Counts { predicate, each: Some(BucketWidth::SECOND) }, Aggregate::Mean),
        rollup(means(), Items::Runs { predicate }, Aggregate::Mean),
        filled(),
        having(None),
        having(Some(2)),
        Query::Range { devices: devices.clone(), signals: signals.clone(), range },
        Query::Range { devices: Devices::Some(vec![1]), signals: vec![1], range },
        Query::Records { device, from_ns, limit },
        Query::Nearest { device, signal, predicate: Predicate::Above(1.0), direction: Direction::FirstAfter(from_ns) },
        Query::Nearest { device, signal, predicate: Predicate::Below(1.0), direction: Direction::LastBefore(from_ns) },
        Query::Minimum { device, signal, range },
        Query::Newest { devices: devices.clone(), limit },
        Query::MaxOfFirst { device, signal, from_ns, limit },
        Query::Aggregates { devices: devices.clone(), signals: signals.clone(), aggregates: aggregates.clone(), range },
        Query::Count,
        Query::LastPoints { devices: devices.clone() },
        Query::NewestVisible { device, signal },
        Query::Scan,
        filter(false),
        filter(true),
        Query::Buckets { devices, signals, aggregates, range, width: BucketWidth::SECOND },
        total(None),
        total(Some(2)),
        by_tag(None),
        by_tag(Some(BucketWidth::SECOND)),
        Query::TopDevices { devices: Devices::All, signal, aggregate: Aggregate::Mean, range, limit },
        Query::Consecutive { devices: Devices::All, signal, range, what: Consecutive::Gaps { longer_than_ns: 1 } },
        Query::Aggregates { devices: Devices::All, signals: vec![0, 1], aggregates: percentiles(), range },
        percentiles_of_buckets,
        Query::Consecutive { devices: Devices::All, signal, range, what: Consecutive::Differences { per_ns: None } },
        Query::Consecutive { devices: Devices::All, signal, range, what: Consecutive::TimeWeightedMean },
    ]
}

fn batch(table: &TableSpec) -> Batch {
    let mut batch = Batch::new(&table.schema);
    batch.append(Run { device: 1, first: 0, count: 3 }, |times, columns| {
        times.extend((0..3).map(|index| 1_700_000_000_000_000_000 + index * 1_000_000));
        for column in columns {
            assert!((0..3).all(|_| column.push(Value::F64(1.5))));
        }
    });
    batch
}

async fn ask(database: &dyn Database, query: &Query) -> Result<(), Error> {
    let mut rows = 0;
    let mut sink = |chunk: &Chunk| {
        assert!((1..=CHUNK_ROWS).contains(&chunk.len()) && chunk.devices.len() == chunk.len());
        assert!(chunk.columns.iter().all(|column| column.len() == chunk.len()));
        rows += chunk.len() as u64;
        Ok(())
    };
    let reply = database.reader().await?.query(query, &mut sink).await?;
    assert_eq!(reply.rows, rows);
    Ok(())
}

async fn change(database: &dyn Database) -> Result<(), Error> {
    for _ in 0..MAX_LOOKS {
        if database.proceed().await? != iotbench_core::Settled::NotYet {
            break;
        }
    }
    Ok(())
}

async fn call(database: &dyn Database, table: &TableSpec, what: u8) -> Result<(), Error> {
    match what {
        0 => drop(database.ping().await?),
        1 => {
            database.create().await?;
            change(database).await?;
        }
        2 => {
            let counts = database.count().await?;
            assert!(counts.points <= counts.values, "{counts:?}");
        }
        3 => {
            database.drop_created().await?;
            change(database).await?;
        }
        4 => drop(database.settle().await?),
        5 => drop(database.storage_bytes().await?),
        6 => drop(database.adopt().await?),
        7 => {
            let owned = database.owned().await?;
            if let Some(first) = owned.first() {
                database.drop_owned(first).await?;
                change(database).await?;
            }
        }
        8 => {
            let taken = database.writer().await?.write(&batch(table)).await?;
            assert!(taken.points <= 3);
        }
        9 => drop(database.reader().await?.visible_points().await?),
        _ => {
            let queries = queries();
            ask(database, &queries[usize::from(what - 10) % queries.len()]).await?;
        }
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let [backend, layout, what, answers @ ..] = data else { return };
    let backend = OVER_HTTP[usize::from(*backend) % OVER_HTTP.len()];
    let layouts: &[Layout] = backend.info().capabilities.layouts;
    let table = table(layouts[usize::from(*layout) % layouts.len()]);
    let table = if backend.info().tags.most > 0 { with_tags(table) } else { table };
    let answers = parts::<MAX_ANSWERS>(answers).into_iter().flatten().map(<[u8]>::to_vec).collect();
    let answers: Answers = Arc::new(Mutex::new(answers));
    STUB.with_borrow(|Stub { runtime, listener, port }| {
        let database = open(backend, *port, table.clone());
        runtime.block_on(async {
            tokio::select! {
                () = serve(listener, answers) => {}
                done = timeout(PATIENCE, call(&*database, &table, *what)) => match done {
                    Ok(done) => drop(done.map_err(|error| error.to_string())),
                    Err(_) => panic!("{}: the call {what} does not end", backend.info().name),
                },
            }
        });
    });
});
