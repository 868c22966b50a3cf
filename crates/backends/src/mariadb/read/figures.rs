//! Figures over many datapoints: by the server where it can, else over what it sends.

use super::{MariaDbReader, points::cell};
use crate::mariadb::error::classify;
use iotbench_backend_kit::{
    answer::Answer,
    ask::{Ask, Asked, Order},
    figures::Collected,
    fold::Fold,
    sql::Grouping,
};
use iotbench_core::{Aggregate, ComputedBy, Error, Reply, Sink, ValueType};
use std::ops::ControlFlow;

impl MariaDbReader {
    pub(super) async fn greatest(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let mut bytes = 8;
        let max = match self.shape.greatest(ask)? {
            _ if !self.may_hold(ask.device()) => None,
            Some(statement) => {
                let query = sqlx::query_with(&statement.sql, statement.arguments);
                let row = query.fetch_one(&mut self.connection).await.map_err(|e| classify(&e))?;
                cell::<Option<f64>>(&row, 0)?
            }
            None => {
                let mut point = self.no_point(ask.signals);
                let mut max = None::<f64>;
                self.first_points(ask, &mut bytes, &mut |device, time, values| {
                    super::take_point(&mut point, device, time, values)?;
                    if let Some(number) = super::number_of(&point) {
                        max = Some(max.map_or(number, |max| max.max(number)));
                    }
                    Ok(ControlFlow::Continue(()))
                })
                .await?;
                max
            }
        };
        if let Some(max) = max {
            answer.figures(ask.device(), [Some(max)])?;
        }
        answer.finish(bytes, self.shape.computed_by())
    }

    /// The devices with the greatest figure of a signal, by one statement.
    pub(super) async fn top(&mut self, ask: &Ask<'_>, function: &str, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let mut bytes = 0;
        if let Some(devices) = ask.devices.in_table(&self.place.table) {
            let statement = self.shape.top(&Ask { devices, ..*ask }, function)?;
            let query = sqlx::query_with(&statement.sql, statement.arguments);
            for row in query.fetch_all(&mut self.connection).await.map_err(|e| classify(&e))? {
                answer.figures(cell(&row, 0)?, [cell(&row, 1)?])?;
                bytes += 12;
            }
        }
        answer.finish(bytes, ComputedBy::Server)
    }

    pub(super) async fn figures(&mut self, ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Some(grouping) = Grouping::of(ask.what).filter(|_| self.shape.computed_by() == ComputedBy::Server) else {
            let mut fold = Fold::new(ask, sink);
            let reply = self.range(&ask.datapoints(), &mut fold).await?;
            return fold.finish(reply);
        };
        let (devices, signals) = (self.devices(ask.devices).await?, ask.signals.len());
        let mut answer = Answer::new(sink, vec![ValueType::F64; signals]);
        let mut bytes = 0;
        for device in devices {
            let (of, mut figures) = (Ask { devices: Asked::One(device), ..*ask }, Collected::default());
            if grouping.functions().next().is_some() {
                bytes += self.grouped(&of, &grouping, &mut figures).await?;
            }
            for (place, &aggregate) in grouping.aggregates().iter().enumerate() {
                let order = match aggregate {
                    Aggregate::First => Order::Oldest,
                    Aggregate::Last => Order::Newest,
                    _ => continue,
                };
                let width = signals * grouping.aggregates().len();
                for (signal, number) in self.numbers_of_first(&of, order, &mut bytes).await?.into_iter().enumerate() {
                    figures.set((device, 0), place * signals + signal, width, number);
                }
            }
            figures.hand_over(signals, &mut answer)?;
        }
        answer.finish(bytes, self.shape.computed_by())
    }

    /// The figures of a device that the server works out by grouping; their bytes.
    async fn grouped(&mut self, of: &Ask<'_>, grouping: &Grouping<'_>, figures: &mut Collected) -> Result<u64, Error> {
        let statement = self.shape.grouped(of, grouping)?;
        let query = sqlx::query_with(&statement.sql, statement.arguments);
        let rows = query.fetch_all(&mut self.connection).await.map_err(|e| classify(&e))?;
        rows.iter().try_fold(0, |bytes, row| Ok(bytes + self.shape.take_group(row, of, grouping, figures)?))
    }

    /// The numbers of the first datapoint of a device's stretch in this order; none where there is no datapoint.
    async fn numbers_of_first(
        &mut self,
        of: &Ask<'_>,
        order: Order,
        bytes: &mut u64,
    ) -> Result<Vec<Option<f64>>, Error> {
        let mut point = self.no_point(of.signals);
        self.first_points(&of.datapoints().first(1, order), bytes, &mut |device, time, values| {
            super::take_point(&mut point, device, time, values)?;
            Ok(ControlFlow::Break(()))
        })
        .await?;
        let numbers = point.columns.iter().map(|column| column.get(0).and_then(|value| value.as_f64()));
        Ok(if point.is_empty() { Vec::new() } else { numbers.collect() })
    }
}
