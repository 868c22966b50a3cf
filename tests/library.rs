//! iotbench as another project's test would use it.

use iotbench::{Benchmark, BenchmarkError, Level, Status};

#[test]
fn a_test_can_assert_on_a_quantile() {
    let outcome = Benchmark::builtin("machine_write")
        .unwrap()
        .backend("sqlite:bulk")
        .set("warmup=0s")
        .duration("2s")
        .run()
        .unwrap();
    assert_eq!(outcome.verdict.status, Status::Valid, "{:?}", outcome.verdict);
    let response = outcome.measured.unwrap().recording.pooled().by_operation().ok().response().clone();
    assert!(response.value_at(Level::P99).unwrap() < 60_000_000_000);
}

#[test]
fn what_cannot_be_run_is_said_before_anything_is_touched() {
    let unknown = Benchmark::builtin("pmu_wirte").err().unwrap();
    assert!(unknown.to_string().contains("did you mean pmu_write?"), "{unknown}");
    let error = Benchmark::builtin("pmu_write").unwrap().backend("sqlite:wyde").run().err().unwrap();
    assert!(matches!(error, BenchmarkError::UnknownLayout(_)), "{error}");
    let error = Benchmark::builtin("pmu_write").unwrap().set("stepp=5s").run().err().unwrap();
    assert!(error.to_string().contains("did you mean `step`?"), "{error}");
}
