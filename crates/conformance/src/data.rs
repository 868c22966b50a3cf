//! The datapoints that are written: hard cases by hand, and random ones from a fixed seed.

use iotbench_core::{
    Batch, Capabilities, Domain, Run, Schema, SchemaError, Signal, Tag, TagType, TagValues, Tags, Value, ValueType,
};

/// The time of the first datapoint: a whole second.
pub(crate) const ORIGIN_NS: i64 = 1_700_000_000_000_000_000;

/// A value that stands alone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Owned {
    F32(f32),
    F64(f64),
    I64(i64),
    U16(u16),
    Text(String),
}

impl From<Value<'_>> for Owned {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::F32(v) => Self::F32(v),
            Value::F64(v) => Self::F64(v),
            Value::I64(v) => Self::I64(v),
            Value::U16(v) => Self::U16(v),
            Value::Text(v) => Self::Text(v.into()),
        }
    }
}

impl Owned {
    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::F32(v) => Value::F32(*v),
            Self::F64(v) => Value::F64(*v),
            Self::I64(v) => Value::I64(*v),
            Self::U16(v) => Value::U16(*v),
            Self::Text(v) => Value::Text(v),
        }
    }

    pub(crate) fn value_type(&self) -> ValueType {
        match self {
            Self::F32(_) => ValueType::F32,
            Self::F64(_) => ValueType::F64,
            Self::I64(_) => ValueType::I64,
            Self::U16(_) => ValueType::U16,
            Self::Text(_) => ValueType::Text,
        }
    }

    /// Equal to the last bit.
    pub(crate) fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::F32(a), Self::F32(b)) => a.to_bits() == b.to_bits(),
            (Self::F64(a), Self::F64(b)) => a.to_bits() == b.to_bits(),
            (a, b) => a == b,
        }
    }

    /// Numbers of one type within a relative error.
    pub(crate) fn is_near(&self, other: &Self, relative: f64) -> bool {
        let greater = self.value().as_f64().unwrap_or(0.0).abs().max(other.value().as_f64().unwrap_or(0.0).abs());
        self.is_within(other, relative * greater)
    }

    /// Numbers of one type within an absolute error; texts that are equal.
    pub(crate) fn is_within(&self, other: &Self, error: f64) -> bool {
        if self.value_type() != other.value_type() || self.value_type() == ValueType::Text {
            return self == other;
        }
        matches!((self.value().as_f64(), other.value().as_f64()), (Some(a), Some(b)) if (a - b).abs() <= error)
    }
}

/// Datapoints of one schema, in batches.
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    pub(crate) schema: Schema,
    pub(crate) devices: u32,
    pub(crate) batches: Vec<Batch>,
}

impl Dataset {
    pub(crate) fn points(&self) -> u64 {
        self.batches.iter().map(|batch| batch.len() as u64).sum()
    }

    pub(crate) fn values(&self) -> u64 {
        self.points() * self.schema.width() as u64
    }

    /// All times of one device, ascending.
    pub(crate) fn times(&self, device: u32) -> Vec<i64> {
        let of_batch = |batch: &Batch| {
            let runs = batch.run_rows().filter(|run_rows| run_rows.run.device == device);
            runs.flat_map(|run_rows| batch.timestamps_ns()[run_rows.rows].to_vec()).collect::<Vec<_>>()
        };
        let mut times: Vec<i64> = self.batches.iter().flat_map(of_batch).collect();
        times.sort_unstable();
        times
    }
}

/// A schema of so many signals of each type.
pub(crate) fn schema(types: &[(ValueType, usize)]) -> Result<Schema, SchemaError> {
    let types: Vec<ValueType> =
        types.iter().flat_map(|&(value_type, count)| std::iter::repeat_n(value_type, count)).collect();
    // Their order is no order of the names, by which some databases sort.
    let signals = types.iter().zip((0..types.len()).rev()).map(|(&value_type, number)| Signal {
        name: format!("s{number}"),
        value_type,
        max_text_bytes: if value_type == ValueType::Text { 128 } else { 0 },
    });
    Schema::new(signals.collect())
}

/// The schemas of the published studies, filled with random values of ordinary size.
pub(crate) fn ordinary(capabilities: &Capabilities) -> Result<Vec<Dataset>, SchemaError> {
    use ValueType::{F32, F64, I64, Text, U16};
    [
        ("u16 × 5, one device", schema(&[(U16, 5)])?, 1),
        ("f32 × 15, three devices", schema(&[(F32, 15)])?, 3),
        ("f64, i64 and text, two devices", schema(&[(F64, 2), (I64, 1), (Text, 1)])?, 2),
        ("one text, three devices", schema(&[(Text, 1)])?, 3),
        ("i64 × 2, two devices", schema(&[(I64, 2)])?, 2),
    ]
    .into_iter()
    .zip(1..)
    .map(|((name, schema, devices), seed)| {
        let batches = random_batches(&schema, devices, capabilities.time_unit.ns(), seed);
        Ok(Dataset { name, schema, devices, batches })
    })
    .collect()
}

/// Devices that have tags, some of them equal ones.
pub(crate) fn tagged(capabilities: &Capabilities) -> Result<Dataset, SchemaError> {
    let list = |values: &[&str]| values.iter().map(|&value| value.into()).collect();
    let tag = |name: &str, values| Tag { name: name.into(), values };
    let typed = |tag_type, values| TagValues::Typed { tag_type, values: Box::new(values) };
    let lists = vec![list(&["east-1", "east-2"]), list(&["west-1"])];
    let tags = vec![
        tag("site", TagValues::OneOf(list(&["East", "West"]))),
        tag("hall", TagValues::Within { tag: 0, lists }),
        // They read as numbers.
        tag("rack", TagValues::Numbered { prefix: "1".into(), count: 3 }),
        tag("floor", typed(TagType::Integer, TagValues::Steps { from: -3, step: 2, count: 3, decimals: 0 })),
        // Neither is a sum of few powers of 2, and the last is whole.
        tag("load", typed(TagType::Number, TagValues::OneOf(list(&["0.1", "-2718.281828459045", "1500"])))),
        tag("leased", typed(TagType::Truth, TagValues::OneOf(list(&["false", "true"])))),
    ];
    let schema = schema(&[(ValueType::I64, 2)])?.with_tags(Tags::new(5, tags)?)?;
    let batches = random_batches(&schema, TAGGED_DEVICES, capabilities.time_unit.ns(), 6);
    Ok(Dataset { name: "i64 × 2, twelve devices with tags", schema, devices: TAGGED_DEVICES, batches })
}

/// Devices that are replaced from time to time, so that each has several series.
pub(crate) fn replaced(capabilities: &Capabilities) -> Result<Dataset, SchemaError> {
    let tag = |name: &str, values| Tag { name: name.into(), values };
    let site = TagValues::OneOf(["East", "West"].map(Into::into).to_vec());
    let tags = vec![tag("site", site), tag("serial", TagValues::Serial { prefix: "s".into(), life: 17 })];
    let schema = schema(&[(ValueType::I64, 2)])?.with_tags(Tags::new(6, tags)?)?;
    let batches = random_batches(&schema, TAGGED_DEVICES, capabilities.time_unit.ns(), 7);
    Ok(Dataset { name: "i64 × 2, twelve devices that are replaced", schema, devices: TAGGED_DEVICES, batches })
}

/// Enough that each value of a tag is some device's, and some are several's.
const TAGGED_DEVICES: u32 = 12;

/// The hardest values of each type inside its declared domain, one schema a type.
pub(crate) fn extreme(capabilities: &Capabilities) -> Result<Vec<Dataset>, SchemaError> {
    let names = ["extremes of f32", "extremes of f64", "extremes of i64", "extremes of u16", "texts"];
    let datasets = ValueType::ALL.into_iter().zip(names).map(|(value_type, name)| {
        let schema = schema(&[(value_type, 2)])?;
        let values = extremes_of(value_type, (capabilities.domain)(value_type));
        let mut batch = Batch::new(&schema);
        let run = |first: usize| Run { device: 0, first: first as u64, count: 1 };
        for (index, value) in values.iter().enumerate() {
            batch.append(run(index), |times, columns| {
                // Every other datapoint begins a second, so that texts and times are hard at once.
                times.push(
                    ORIGIN_NS
                        + (index as i64 / 2) * 1_000_000_000
                        + (index as i64 % 2) * (1_000_000_000 - capabilities.time_unit.ns()),
                );
                let other = &values[values.len() - 1 - index];
                let pushed = columns[0].push(value.value()) && columns[1].push(other.value());
                debug_assert!(pushed, "extremes are of their own type");
            });
        }
        Ok(Dataset { name, schema, devices: 1, batches: vec![batch] })
    });
    datasets.collect()
}

fn extremes_of(value_type: ValueType, domain: Domain) -> Vec<Owned> {
    let integers = |values: &[i64]| -> Vec<i64> {
        let (min, max) = match domain {
            Domain::Integers { min, max } => (min, max),
            _ => (i64::MIN, i64::MAX),
        };
        let all = values.iter().copied().chain([min, max]);
        all.filter(|v| (min..=max).contains(v)).collect()
    };
    match value_type {
        ValueType::F32 => {
            [0.0, -0.0, 1.0, -1.5, 0.1, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, f32::EPSILON, 16_777_217.0]
                .map(Owned::F32)
                .to_vec()
        }
        ValueType::F64 => [
            0.0,
            -0.0,
            1.0,
            0.1,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            f64::EPSILON,
            9_007_199_254_740_993.0,
            1e22,
            2.0 / 3.0,
        ]
        .map(Owned::F64)
        .to_vec(),
        ValueType::I64 => integers(&[
            0,
            1,
            -1,
            1 << 53,
            (1 << 53) + 1,
            -(1 << 53) - 1,
            i64::MAX,
            i64::MAX - 1,
            i64::MIN,
            i64::MIN + 1,
        ])
        .into_iter()
        .map(Owned::I64)
        .collect(),
        ValueType::U16 => integers(&[0, 1, 255, 256, 32767, 32768, 65535])
            .into_iter()
            .filter_map(|v| u16::try_from(v).ok())
            .map(Owned::U16)
            .collect(),
        ValueType::Text => {
            let is_held = |text: &String| match domain {
                Domain::TextWithoutNul => !text.contains('\0'),
                Domain::TextNotEmpty => !text.is_empty(),
                _ => true,
            };
            texts().into_iter().filter(is_held).map(Owned::Text).collect()
        }
    }
}

fn texts() -> Vec<String> {
    let plain = ["", " ", "a", "größer", "温度", "🌡️", "e\u{301}", "\u{10ffff}", "12.5", "NaN", "null"];
    let quoting = ["'", "\"", "\\", "a\\", "`", "','); DROP TABLE x; --", "%s {} $1 ?1 :a", "a,b c=d", "\\u0041"];
    let control = ["\n", "\r\n", "\t", "\0", "a\0b", "\u{1}\u{7f}", "\u{feff}a", "\u{2028}"];
    let mut texts: Vec<String> = plain.iter().chain(&quoting).chain(&control).map(ToString::to_string).collect();
    texts.extend(["x".repeat(128), "ü".repeat(64), "🌡".repeat(32)]);
    texts
}

/// Batches of all devices with one late batch at the end; more rows in all than a chunk of an answer holds.
fn random_batches(schema: &Schema, devices: u32, unit_ns: i64, seed: u64) -> Vec<Batch> {
    const BATCHES: u64 = 12;
    const ROWS: u32 = 1200;
    let mut random = Random(seed);
    let rows_of_run = u64::from(ROWS / devices) / BATCHES;
    // The second batch is held back to the end.
    let order = (0..BATCHES).filter(|&batch| batch != 1).chain([1]);
    let fill = |number: u64| {
        let mut batch = Batch::new(schema);
        for device in 0..devices {
            let run =
                Run { device, first: number * rows_of_run, count: u32::try_from(rows_of_run).unwrap_or(u32::MAX) };
            batch.append(run, |times, columns| {
                for index in run.indices() {
                    times.push(time_of(index, unit_ns));
                    for column in columns.iter_mut() {
                        let value = random.value(column.value_type());
                        let pushed = column.push(value.value());
                        debug_assert!(pushed, "a random value is of the column's type");
                    }
                }
            });
        }
        batch
    };
    order.map(fill).collect()
}

/// Nine datapoints a second and one on the last unit of it; every device has the same times.
fn time_of(index: u64, unit_ns: i64) -> i64 {
    let (second, within) = ((index / 10) as i64, (index % 10) as i64);
    let nanoseconds = if within == 9 { 999_999_999 } else { within * 111_111_111 };
    ORIGIN_NS + second * 1_000_000_000 + nanoseconds / unit_ns * unit_ns
}

/// Numbers by SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An ordinary value; integers from so few that many are equal.
    fn value(&mut self, value_type: ValueType) -> Owned {
        let small = u16::try_from(self.next() % 64).unwrap_or_default();
        let fraction = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let number = (fraction - 0.5) * 2000.0;
        match value_type {
            #[expect(clippy::cast_possible_truncation, reason = "any f32 near it will do")]
            ValueType::F32 => Owned::F32(number as f32),
            ValueType::F64 => Owned::F64(number),
            ValueType::I64 => Owned::I64(i64::from(small) - 32),
            ValueType::U16 => Owned::U16(small),
            ValueType::Text => Owned::Text(format!("{number:.3}")),
        }
    }
}
