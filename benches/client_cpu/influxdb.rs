//! InfluxDB, layout wide: line protocol in an HTTP request, by hyper as its documentation shows it.

use crate::{
    Bare, pairs,
    readings::{Readings, SIGNALS, TABLE, create, signal_name},
};
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode, body::Bytes, client::conn::http1, header::HOST};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use url::Url;

/// The database that the backend makes.
const DATABASE: &str = "iotbench";

pub async fn compare(url: &Url) {
    let database = create("influxdb", url, &[]).await;
    let host = format!("{}:{}", url.host_str().unwrap(), url.port_or_known_default().unwrap());
    let stream = TcpStream::connect(&host).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let path = format!("/write?db={DATABASE}&precision=ns");
    let keys = (0..SIGNALS).map(|signal| format!("{}{}=", if signal == 0 { ' ' } else { ',' }, signal_name(signal)));
    let mut bare = BareInfluxDb { sender, host, path, keys: keys.collect() };
    pairs::compare("influxdb http", &*database, &mut bare).await;
    drop(bare);
    connection.await.unwrap().unwrap();
    database.drop_created().await.unwrap();
}

struct BareInfluxDb {
    sender: http1::SendRequest<Full<Bytes>>,
    host: String,
    path: String,
    keys: Vec<String>,
}

impl Bare for BareInfluxDb {
    async fn write(&mut self, readings: &Readings) {
        let mut lines = Vec::with_capacity(readings.rows.len() * 512);
        for row in &readings.rows {
            lines.extend_from_slice(TABLE.as_bytes());
            for (key, value) in self.keys.iter().zip(row.values) {
                lines.extend_from_slice(key.as_bytes());
                lines.extend_from_slice(zmij::Buffer::new().format_finite(f64::from(value)).as_bytes());
            }
            lines.push(b' ');
            lines.extend_from_slice(itoa::Buffer::new().format(row.time_ns).as_bytes());
            lines.push(b'\n');
        }
        let request = Request::post(&self.path).header(HOST, &self.host).body(Full::new(Bytes::from(lines))).unwrap();
        self.sender.ready().await.unwrap();
        let response = self.sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        response.into_body().collect().await.unwrap();
    }
}
