//! What each key of a profile means. Names are held against the parser by a test of `profile_keys`.

/// A table of a profile.
pub(super) struct Table {
    /// As it is written; empty: the profile itself.
    pub(super) head: &'static str,
    /// Where it is.
    pub(super) path: &'static [&'static str],
    pub(super) about: &'static str,
    pub(super) keys: &'static [Key],
}

/// A key of a table.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) meaning: &'static str,
}

const fn key(name: &'static str, kind: &'static str, meaning: &'static str) -> Key {
    Key { name, kind, meaning }
}

pub(super) const TABLES: &[Table] = &[
    Table {
        head: "",
        path: &[],
        about: "Its tables are below.",
        keys: &[
            key("name", "text", "the name on the command line"),
            key("summary", "text", "one line on what it asks of a database"),
            key("study", "text", "the study that prescribes it, if any"),
            key("seed", "count", "the seed of all data and schedules"),
            key("origin", "`default`, `now` or a time of RFC 3339", "the time of the first datapoint"),
            key(
                "devices",
                "`auto` or count",
                "how many devices exist; `auto`: one a virtual user in a closed loop, else one",
            ),
            key(
                "layout",
                "`auto`, `narrow`, `wide`, `document` or `bulk`",
                "how datapoints become records; `auto`: the backend's first",
            ),
            key(
                "dataset",
                "table",
                "what the devices measure: `name` and the parameters of [datasets.md](datasets.md)",
            ),
            key("groups", "list of tables", "who does what, and how fast"),
            key("phases", "table", "how long each part of a run takes"),
            key("ramp", "table", "steps of load, or the search for the greatest; none: the load stays as it is"),
            key("stop", "table", "when a load is too much"),
            key("scenario", "list of tables", "what is done to processes of the server while the load runs"),
            key("sweep", "table", "one run for each of the values of a field; none: one run"),
            key("backend", "table of tables", "settings of backends by name, as in [backends.md](backends.md)"),
            key("full", "table", "the study's own lengths, applied by `--full`: dotted key = value"),
            key(
                "variants",
                "table of tables",
                "the same workload in several ways, a run for each: name = { dotted key = value, … }",
            ),
            key("variant", "text", "which of them this is; empty: none"),
        ],
    },
    Table {
        head: "[[groups]]",
        path: &["groups"],
        about: "Virtual users or sensors that do the same at the same pace.",
        keys: &[
            key("name", "text", "its name in the result"),
            key(
                "connections",
                "`auto` or count",
                "connections that it shares; `auto`: as many as users, at most what the backend takes",
            ),
            key(
                "devices",
                "`auto` or count",
                "where several groups write: how many of the profile's devices are this one's; `auto`, where one group writes: all",
            ),
            key("load", "table", "its load model"),
            key(
                "operations",
                "list of tables",
                "what a user does; which of several comes next is drawn by their shares, from the seed",
            ),
        ],
    },
    Table {
        head: "[groups.load]",
        path: &["groups", "load"],
        about: "A load model with its figures; those of other models are ignored.",
        keys: &[
            key(
                "model",
                "`closed`, `open`, `paced` or `interval`",
                "what decides when the next operation starts: an answer, a schedule that no answer delays, a sensor's clock, or a window of each interval",
            ),
            key("users", "count", "closed: how many virtual users"),
            key("think_time", "time", "closed: from an answer to the user's next start"),
            key(
                "rate",
                "`auto` or rate a second",
                "open: operations a second; paced: datapoints a second and device; `auto`: the dataset's own pace",
            ),
            key("arrival", "`constant` or `poisson`", "open: the spread of starts"),
            key("overflow", "`queue` or `drop`", "open: what happens to operations that cannot start in time"),
            key("in_flight", "count", "open with `drop`: the most operations waiting or under way"),
            key(
                "shape",
                "`constant`, `burst`, `sine`, `day`, `rise` or `trace`",
                "open, closed: how the load changes with time, in multiples of its mean, which is `rate`; in a closed loop `users` are those of the peak",
            ),
            key(
                "period",
                "`auto` or time",
                "burst, sine, day: after how long it begins again; `auto`: 1 min, of a day 24 h",
            ),
            key("peak", "number", "burst, sine: the greatest load, in multiples of the mean; of a sine at most 2"),
            key("burst", "share", "burst: how much of the period it takes, from its beginning"),
            key("rise", "time", "rise: how long the load grows from nothing to `rate`, or `users`, where it stays"),
            key(
                "trace",
                "text",
                "trace: a CSV file of `time` (seconds) and `rate`, which holds until the next time; without `rate` as it is, with it scaled to that mean",
            ),
            key("queue", "size", "paced: the size of a sensor's queue"),
            key("message", "size", "paced: the size of one datapoint in that queue"),
            key("interval", "time", "interval: from one report of a device to its next"),
            key(
                "window",
                "`auto` or time",
                "interval: within how much of it, from its beginning, all reports arrive; `auto`: 2 min of each 15",
            ),
        ],
    },
    Table {
        head: "[[groups.operations]]",
        path: &["groups", "operations"],
        about: "One thing that a user does.",
        keys: &[
            key(
                "name",
                "text",
                "its name in the result; empty: its kind, or the group's name where it is the only one",
            ),
            key(
                "kind",
                "`write`, `cycle_search`, `read_signal`, `read_records`, `read_newest`, `last_points`, `read_device`, `max_records`, `mean_device`, `filter`, `buckets` or `dashboard`",
                "what it does",
            ),
            key("share", "number", "its part of the group's operations, relative to the others"),
            key("datapoints", "`auto`, count, `second` or `since_last`", "write: datapoints of a device in a request"),
            key("window", "time", "write with `since_last`: older data is lost; read: the stretch of time"),
            key("devices", "count", "devices in a request: consecutive ones, each with `datapoints`"),
            key("records", "count", "read: records in an answer"),
            key(
                "signals",
                "list of texts",
                "read: the signals that are asked for, by name or by `beginning*`; none: all that the question can be about",
            ),
            key("above", "number", "filter: the values greater than this"),
            key("below", "number", "filter: the values less than this"),
            key(
                "width",
                "`auto` or time",
                "time buckets: how long each is, beginning at multiples of that since 1970; `auto`: a tenth of `window`",
            ),
            key(
                "aggregates",
                "list of `first`, `last`, `min`, `mean`, `max`, `sum` and `count`",
                "time buckets: which figures of each signal; none: `mean`",
            ),
            key(
                "strategy",
                "`auto`, `individual`, `bulk` or `bulk1`",
                "search for a machine cycle: how it is read; `auto`: as the layout suggests",
            ),
            key(
                "amplitude",
                "number",
                "search for a machine cycle: the height of the sawtooth, which is the first of `signals`",
            ),
            key(
                "requests",
                "count",
                "requests in the operation, one after the other on one connection; response time and deadline are those of all together",
            ),
            key(
                "pause",
                "time",
                "from the answer of a request to the operation's next request: part of the response time, not of the busy time",
            ),
            key("transaction", "boolean", "whether the requests are one transaction, where the backend has them"),
        ],
    },
    Table {
        head: "[phases]",
        path: &["phases"],
        about: "How long each part of a run takes.",
        keys: &[
            key("preload", "count", "datapoints of each device that are written before the run"),
            key(
                "history",
                "`auto` or time",
                "the same as a stretch of the devices' own time; `auto`: `preload` says how many",
            ),
            key("warmup", "time", "load that is not measured"),
            key("duration", "`auto` or time", "load that is measured; `auto`: 30 s"),
            key("operations", "`auto` or count", "ends the measured part after so many operations"),
            key("deadline", "time", "an operation without an answer by then has timed out"),
            key(
                "drain",
                "`auto` or time",
                "how long unanswered operations are waited for at the end; `auto`: the deadline",
            ),
            key("settle", "time", "how long counting and flushing may take at the end"),
            key(
                "run_deadline",
                "`auto` or time",
                "the load ends by then, whatever it has found; `auto`: each part's own length is limit enough",
            ),
            key(
                "others_cpu",
                "share",
                "the result says so first, and a step of a search is run again, where other programs had more of all the machine's processors in more than 5 % of the seconds; 100 %: not judged",
            ),
        ],
    },
    Table {
        head: "[ramp]",
        path: &["ramp"],
        about: "Virtual users of a closed loop, the rate of an open one, or the devices that report in each interval, of the first group. Without `steps` a search: the load grows until the stop criterion, then come trials near the limit.",
        keys: &[
            key("steps", "list of counts", "these loads in this order, each of them; empty: a search"),
            key("first", "count", "search: the load of the first step"),
            key("growth", "number", "search: the factor from one step to the next"),
            key("most", "count", "search: a greater load than this is not tried"),
            key("step", "time", "how long a step counts; with intervals as many whole ones as last at least this long"),
            key("resolution", "share", "search: it ends when the interval is this narrow"),
            key(
                "trials",
                "count",
                "search: at most so many steps near the limit, from 12 to 300, however wide the interval is by then; 0: none, so that the limit is only bracketed",
            ),
            key(
                "state",
                "`auto`, `fresh`, `preloaded`, `preconditioned` or `keep`",
                "what each step begins with: an empty database, the history written anew, an empty database under the step's own load until its rate is steady, or what the steps before it left; `auto`: fresh where the profile is one group that only writes, without a history and a scenario, and the database can be emptied under its writers",
            ),
            key(
                "most_disk",
                "`auto` or size",
                "search: no load is tried of which a step may need more disk at once, by the estimate that is said beforehand; `auto`: 2 GiB where the database is embedded and steps are shorter than a minute, and no bound elsewhere",
            ),
            key(
                "probe",
                "`auto` or boolean",
                "whether the storage under the database is probed before the search, between its steps and after it: a step during which it drifted is run again, and the answer says what it was; `auto`: where the database's files are known and the load can pause",
            ),
            key(
                "writes_alone",
                "boolean",
                "then the writes of the greatest load that was sustained, without its reads",
            ),
            key("soak", "time", "then the greatest load that was sustained, for so long"),
            key(
                "overload",
                "time",
                "then one and a half times that load for so long, and after a rest the load itself once more",
            ),
            key("rest", "time", "how long the rest without load is"),
        ],
    },
    Table {
        head: "[stop]",
        path: &["stop"],
        about: "The stop criterion: when a load is too much. It judges the steps of a ramp or search; of a fixed load only `max_loss` does.",
        keys: &[
            key(
                "mean_response",
                "`auto` or time",
                "the mean response time exceeds this; `auto`: with intervals 1 min of each 15, else no limit",
            ),
            key("quantile", "share", "the quantile of the response time that `quantile_response` limits"),
            key("quantile_response", "`auto` or time", "that quantile exceeds this"),
            key("errors", "share", "more than this share of the operations fail"),
            key("timeouts", "share", "more than this share of the operations time out"),
            key(
                "max_loss",
                "`auto` or share",
                "more than this share of the datapoints are lost because their device could not send them in time; `auto`: 0 of a paced load, where it holds without a ramp too; else no limit",
            ),
        ],
    },
    Table {
        head: "[sweep]",
        path: &["sweep"],
        about: "One run for each value of a field, on a fresh table each.",
        keys: &[
            key("field", "dotted key", "the field"),
            key("values", "list of counts", "its values"),
            key("repeat", "count", "with how many operations a run ends, unless `phases.operations` says it"),
            key("only", "`auto` or count", "this one run alone; `auto`: all of them"),
            key(
                "classes",
                "list of counts",
                "limits of the classes of values over which the query jitter is averaged, ascending; empty: it is not reported",
            ),
            key(
                "record_bytes",
                "`auto` or count",
                "how many bytes a record counts as in bytes a second; `auto`: those are not reported",
            ),
        ],
    },
    Table {
        head: "[[scenario]]",
        path: &["scenario"],
        about: "Something that is done to a process of the server while the load runs.",
        keys: &[
            key(
                "at",
                "`auto` or time",
                "when, after the load's start, warm-up included; `auto`: in the middle of the measured part",
            ),
            key("action", "`kill`, `stop`, `continue`, `restart` or `crash`", "what is done"),
            key("role", "`auto` or text", "to a process of this role; `auto`: of the first one"),
            key("node", "integer", "on this node, counted from 0"),
        ],
    },
];
