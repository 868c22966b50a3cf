//! InfluxDB 2, layout wide: our own client beside the crate `influxdb2`, each as a writer of the backend. Only writing is
//! compared: the server is one that takes `/api/v2/write` and has no buckets.

use crate::{
    Bare, pairs,
    readings::{Readings, open},
};
use iotbench_core::Writer;
use url::Url;

pub async fn compare(url: &Url) {
    let mut by_crate = ByCrate(open("influxdb2", url, &[("client", "crate")]).writer().await.unwrap());
    pairs::compare("influxdb2 http", &*open("influxdb2", url, &[]), &mut by_crate).await;
}

struct ByCrate(Box<dyn Writer>);

impl Bare for ByCrate {
    const NAME: &'static str = "crate";

    async fn write(&mut self, readings: &Readings) {
        let acknowledged = self.0.write(&readings.batch).await.unwrap();
        assert_eq!(acknowledged.points, readings.batch.len() as u64);
    }
}
