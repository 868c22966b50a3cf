//! Whether a result can be believed.

use iotbench_report::{Status, Verdict};

pub(super) fn of(verdict: &iotbench_engine::Verdict) -> Verdict {
    Verdict {
        status: status(verdict.status),
        reasons: verdict.reasons.iter().map(ToString::to_string).collect(),
        exit_code: verdict.exit_code(),
    }
}

fn status(status: iotbench_engine::Status) -> Status {
    match status {
        iotbench_engine::Status::Running => Status::Running,
        iotbench_engine::Status::Valid => Status::Valid,
        iotbench_engine::Status::Invalid => Status::Invalid,
        iotbench_engine::Status::Aborted => Status::Aborted,
        iotbench_engine::Status::Failed => Status::Failed,
    }
}
