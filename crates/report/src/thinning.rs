//! A sequence of intervals of time that stays short however long the run was. Pure.

/// Intervals of time that can become one.
pub(crate) trait Joins {
    /// Takes in the interval that follows.
    fn join(&mut self, next: Self);
}

/// At most twice `MOST` items: when there are more, each two neighbours become one. Every item but the last is made of
/// equally many.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thinned<T, const MOST: usize> {
    items: Vec<T>,
    /// How many were pushed for each item but the last.
    each: usize,
    in_last: usize,
}

impl<T, const MOST: usize> Default for Thinned<T, MOST> {
    fn default() -> Self {
        Self { items: Vec::new(), each: 1, in_last: 1 }
    }
}

impl<T: Joins, const MOST: usize> Thinned<T, MOST> {
    pub(crate) fn push(&mut self, item: T) {
        match self.items.last_mut() {
            Some(last) if self.in_last < self.each => {
                last.join(item);
                self.in_last += 1;
            }
            _ => {
                self.items.push(item);
                self.in_last = 1;
            }
        }
        // An even number of whole items: pairs come out even.
        if self.items.len() == 2 * MOST && self.in_last == self.each {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut items = std::mem::take(&mut self.items).into_iter();
        while let Some(mut first) = items.next() {
            if let Some(second) = items.next() {
                first.join(second);
            }
            self.items.push(first);
        }
        self.each *= 2;
        self.in_last = self.each;
    }

    pub(crate) fn items(&self) -> &[T] {
        &self.items
    }

    /// How many were pushed for an item.
    pub(crate) fn each(&self) -> usize {
        self.each
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Joins for Vec<usize> {
        fn join(&mut self, next: Self) {
            self.extend(next);
        }
    }

    proptest! {
        #[test]
        fn all_is_kept_in_order_in_equal_parts(count in 0_usize..500) {
            let mut thinned = Thinned::<Vec<usize>, 8>::default();
            (0..count).for_each(|number| thinned.push(vec![number]));
            prop_assert!(thinned.items().len() <= 16);
            prop_assert_eq!(thinned.items().concat(), (0..count).collect::<Vec<_>>());
            let whole = thinned.items().split_last().map_or(&[][..], |(_, whole)| whole);
            prop_assert!(whole.iter().all(|part| part.len() == thinned.each()));
        }
    }
}
