//! What a million datapoints cost.

use super::{quantity::Scale, table::Table};
use crate::{
    cost::{Cost, Price},
    price::PRICED_YEARS,
    terminal::figure::{count, or_none, significant},
};
use maud::{Markup, html};

pub(super) fn section(costs: &[Cost]) -> Markup {
    let prices: Vec<(&Cost, &Price)> = costs.iter().filter_map(|cost| Some((cost, cost.price.as_ref()?))).collect();
    html! {
        section {
            h2 { "Cost per million datapoints" }
            (table(costs).open("Cost per million datapoints"))
            p.note {
                "CPU and bytes written are those of the database's processes over the measured part, an embedded \
                database's with the client; bytes stored are over the whole run."
            }
            @for (cost, price) in &prices { (priced(cost, price)) }
        }
    }
}

fn table(costs: &[Cost]) -> Table {
    let unit = |figure: fn(&Cost) -> Option<f64>| Scale::of_bytes(costs.iter().filter_map(figure));
    let (written, stored) = (unit(|c| c.bytes_written_per_million), unit(|c| c.bytes_stored_per_million));
    let heads = [
        "run".into(),
        "datapoints".into(),
        "CPU, s".into(),
        format!("written, {}", written.name),
        format!("stored, {}", stored.name),
        "energy, J".into(),
        "money".into(),
    ];
    let row = |cost: &Cost| {
        let shown = |key: &str, text: String| cost.unknown.get(key).map_or(text, |reason| format!("n/a: {reason}"));
        vec![
            cost.target.clone(),
            or_none(cost.datapoints, whole),
            shown("cpu_s_per_million", or_none(cost.cpu_s_per_million, significant)),
            shown("bytes_written_per_million", written.show(cost.bytes_written_per_million)),
            shown("bytes_stored_per_million", stored.show(cost.bytes_stored_per_million)),
            shown("energy_j_per_million", or_none(cost.energy_j_per_million, significant)),
            shown("price", or_none(cost.price.as_ref(), |price| money(price.per_million_datapoints, price))),
        ]
    };
    Table { heads: heads.into(), rows: costs.iter().map(row).collect(), ..Table::default() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of datapoints")]
fn whole(number: f64) -> String {
    count(number.round() as u64)
}

fn money(amount: f64, price: &Price) -> String {
    format!("{} {}", significant(amount), price.system.currency)
}

/// The price with all that it is worked out from.
fn priced(cost: &Cost, price: &Price) -> Markup {
    let system = &price.system;
    let row = |item: &crate::PricedItem| {
        let years = f64::from(PRICED_YEARS);
        let total = f64::from(item.count) * (item.once + years * item.a_year);
        vec![
            item.what.clone(),
            count(item.count.into()),
            item.once.to_string(),
            item.a_year.to_string(),
            total.to_string(),
        ]
    };
    let items = Table::new(&["item", "count", "once", "a year", "three years"], system.items.iter().map(row).collect());
    html! {
        details.table {
            summary { "Price of " (cost.target) ": " (money(price.per_thousand_datapoints_per_s, price)) " for 1,000 datapoints/s" }
            p.note {
                (price.formula) " = 1000 × " (price.total) " " (system.currency) " / "
                (significant(price.datapoints_per_s)) " datapoints/s; prices of " (system.date)
                ". The rate is this run's, which need not be the most that the system can do. (After TPCx-IoT: price over \
                performance, three years of ownership.)"
            }
            (items.open("What is paid for"))
        }
    }
}
