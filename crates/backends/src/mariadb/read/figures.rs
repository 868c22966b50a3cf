//! Figures over many datapoints: by the server where it can, else over what it sends.

use super::{
    MariaDbReader,
    points::{Values, cell},
    selection::Selection,
    stream::each,
};
use crate::mariadb::error::classify;
use iotbench_backend_kit::{
    answer::Answer,
    ask::{Ask, Asked, Order},
    series::{OfSignals, Summary},
};
use iotbench_core::{Aggregate, Error, Reply, Sink, ValueType};
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

    pub(super) async fn aggregates(
        &mut self,
        ask: &Ask<'_>,
        aggregates: &[Aggregate],
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let devices = self.devices(ask.devices).await?;
        let mut answer = Answer::new(sink, vec![ValueType::F64; ask.signals.len()]);
        let mut bytes = 0;
        let needs_last = aggregates.contains(&Aggregate::Last);
        let needs_figures = aggregates.iter().any(|&aggregate| aggregate != Aggregate::Last);
        for device in devices {
            let of = Ask { devices: Asked::One(device), ..*ask };
            let last = if needs_last { self.last(&of, &mut bytes).await? } else { Some(Vec::new()) };
            let figures = if needs_figures { self.figures(&of, &mut bytes).await? } else { Some(Vec::new()) };
            let (Some(last), Some(figures)) = (last, figures) else { continue };
            for &aggregate in aggregates {
                let of_signal = |place: usize| match aggregate {
                    Aggregate::Last => last[place],
                    aggregate => figures[place].figure(aggregate),
                };
                answer.figures(device, (0..ask.signals.len()).map(of_signal))?;
            }
        }
        answer.finish(bytes, self.shape.computed_by())
    }

    /// The numbers of the newest datapoint of a device's stretch.
    async fn last(&mut self, of: &Ask<'_>, bytes: &mut u64) -> Result<Option<Vec<Option<f64>>>, Error> {
        let mut point = self.no_point(of.signals);
        self.first_points(&of.first(1, Order::Newest), bytes, &mut |device, time, values| {
            super::take_point(&mut point, device, time, values)?;
            Ok(ControlFlow::Break(()))
        })
        .await?;
        let numbers = point.columns.iter().map(|column| column.get(0).and_then(|value| value.as_f64()));
        Ok((!point.is_empty()).then(|| numbers.collect()))
    }

    /// The figures of each signal over a device's stretch; `None` when there is no datapoint.
    async fn figures(&mut self, of: &Ask<'_>, bytes: &mut u64) -> Result<Option<Vec<Summary>>, Error> {
        let mut figures = vec![Summary::default(); of.signals.len()];
        let Some(statement) = self.shape.figures(of)? else {
            return self.figures_of_points(of, bytes).await;
        };
        let query = sqlx::query_with(&statement.sql, statement.arguments);
        let rows = query.fetch_all(&mut self.connection).await.map_err(|e| classify(&e))?;
        let mut is_any = false;
        for row in &rows {
            is_any |= self.shape.take_figures(row, of.signals, &mut figures)?;
        }
        *bytes += 24 * of.signals.len() as u64;
        Ok(is_any.then_some(figures))
    }

    async fn figures_of_points(&mut self, of: &Ask<'_>, bytes: &mut u64) -> Result<Option<Vec<Summary>>, Error> {
        let (mut point, mut of_signals) = (self.no_point(of.signals), OfSignals::default());
        let selection = Selection { ask: *of, most_rows: None };
        let mut take = |device, time, values: &mut dyn Values| {
            super::take_point(&mut point, device, time, values)?;
            of_signals.take(&point);
            Ok(ControlFlow::Continue(()))
        };
        each(&mut self.connection, &*self.shape, &selection, bytes, &mut take).await?;
        Ok(of_signals.summaries())
    }
}
