//! Stretches of time in whole seconds, as records of layout bulk have them. Pure.

use iotbench_backend_kit::{
    ask::Ask,
    second::{join, split},
    span::Span,
};

/// The same, of those up to the end of this second, or from its beginning on where the last are wanted.
pub(crate) fn within_second(ask: Ask<'_>, second: i64) -> Ask<'_> {
    let Span { first, last } = ask.span;
    let span = if ask.order.is_descending() {
        Span { first: first.max(join(second, 0).unwrap_or(i64::MIN)), last }
    } else {
        Span { first, last: last.min(join(second, 999_999_999).unwrap_or(i64::MAX)) }
    };
    Ask { span, ..ask }
}

/// A stretch, widened to whole seconds.
pub(crate) fn whole_seconds(span: Span) -> Span {
    let first = if span.first == i64::MIN { i64::MIN } else { join(split(span.first).0, 0).unwrap_or(i64::MIN) };
    Span { first, last: span.last }
}
