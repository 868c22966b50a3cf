//! What others had of the machine meanwhile.

use super::rounding::rounded;
use crate::terminal::figure::significant;
use iotbench_sampler::OthersShare;
use serde::{Deserialize, Serialize};

/// What others had of the machine while it was measured. Shares are of the time of all its processors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Others {
    /// Other programs than client, database and broker, in the mean; kernel threads and interrupts are nobody's. Null: not known.
    pub cpu_pct_mean: Option<f64>,
    /// The same in the worst second.
    pub cpu_pct_max: Option<f64>,
    /// Other machines of the hypervisor, in the mean.
    pub steal_pct_mean: Option<f64>,
    /// More than so much of the processors disturbs a second: `phases.others_cpu`.
    pub limit_pct: Option<f64>,
    /// Seconds that were looked at.
    pub seconds: u64,
    /// Seconds of these that were disturbed.
    pub seconds_disturbed: u64,
    /// Steps of a ramp that were disturbed and run again: they count for nothing.
    pub steps_repeated: u64,
    /// Steps of a ramp that were disturbed as often as they may be run again, and count.
    pub steps_disturbed: u64,
    /// What is said of it first; null: nothing disturbed it as far as is known.
    pub disturbed: Option<String>,
    /// Why it is not judged; null: it is.
    pub not_judged: Option<String>,
}

/// How it is said that a run was disturbed.
const DISTURBED: &str = "disturbed: ";

impl Others {
    /// Of a run that was killed, by what is known of the seconds of its measured part, if anything.
    pub(crate) fn recover(&mut self, share: Option<OthersShare>) {
        let percent = |figure: fn(&OthersShare) -> f64| share.as_ref().map(figure).and_then(|s| rounded(s * 100.0));
        self.cpu_pct_mean = percent(|share| share.cpu_mean);
        self.cpu_pct_max = percent(|share| share.cpu_max);
        self.steal_pct_mean = percent(|share| share.steal_mean);
        self.seconds = share.map_or(0, |share| share.seconds);
        self.seconds_disturbed = share.map_or(0, |share| share.disturbed);
        if share.is_none() {
            self.not_judged.get_or_insert_with(|| {
                "iotbench was killed before the machine was looked at in its measured part".into()
            });
        }
        self.judge(share.is_some_and(|share| share.is_disturbed()));
    }

    /// Says that others disturbed the run, if they did in its seconds or in a step that counts, and it is judged.
    pub fn judge(&mut self, in_seconds: bool) {
        let is_disturbed = in_seconds || self.steps_disturbed > 0;
        self.disturbed = (is_disturbed && self.not_judged.is_none()).then(|| self.sentence());
    }

    fn sentence(&self) -> String {
        let percent = |pct: Option<f64>| significant(pct.unwrap_or_default());
        let mut text = format!(
            "{DISTURBED}other programs had {} % of the machine's processors, at most {} %, and its hypervisor took {} %; above {} % or 2 % a second is disturbed: {} of {} were",
            percent(self.cpu_pct_mean),
            percent(self.cpu_pct_max),
            percent(self.steal_pct_mean),
            percent(self.limit_pct),
            self.seconds_disturbed,
            self.seconds
        );
        if self.steps_disturbed > 0 {
            text.push_str(&format!("; {} of the steps were disturbed each time they were run", self.steps_disturbed));
        }
        text
    }

    /// Whether a remark is that a run was disturbed.
    pub(crate) fn is_of_disturbance(remark: &str) -> bool {
        remark.starts_with(DISTURBED)
    }

    /// What a reader has to know of it: what disturbed it first, or that nobody judged.
    pub fn remarks(&self, remarks: &mut Vec<String>) {
        if let Some(disturbed) = &self.disturbed {
            remarks.insert(0, disturbed.clone());
        }
        if self.steps_repeated > 0 {
            remarks.push(format!("{} steps were run again, because others disturbed them", self.steps_repeated));
        }
        let why = self.not_judged.iter().filter(|_| self.limit_pct.is_some_and(|limit| limit < 100.0));
        remarks.extend(why.map(|why| format!("whether other programs disturbed the run was not judged: {why}")));
    }
}
