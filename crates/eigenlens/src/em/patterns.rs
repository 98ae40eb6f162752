//! Which entries rows have, and which rows have the same.

/// Rows that have the same entries.
#[derive(Clone, Copy)]
pub(crate) struct Group<'c> {
    /// Rows of the chunk.
    pub rows: &'c [usize],
    /// Features that they have, in order.
    pub features: &'c [u32],
    /// The same as d bits.
    bits: &'c [u64],
}

impl Group<'_> {
    /// Whether the rows have this feature.
    pub fn has(&self, f: usize) -> bool {
        self.bits[f / 64] >> (f % 64) & 1 == 1
    }

    /// Their features as bits, 64 to a word.
    pub fn bits(&self) -> &[u64] {
        self.bits
    }

    /// How many features they have.
    pub fn observed(&self) -> usize {
        self.features.len()
    }
}

/// The patterns of some rows, in the order of their first row.
#[derive(Default)]
pub(super) struct Patterns {
    /// Words of one pattern.
    words: usize,
    /// Bits of every pattern (patterns × words).
    bits: Vec<u64>,
    /// Their features, one pattern after the other, and where each begins.
    features: Vec<u32>,
    feature_starts: Vec<usize>,
    /// The pattern of every row.
    of_row: Vec<usize>,
    /// Rows, one pattern after the other, and where each begins.
    rows: Vec<usize>,
    row_starts: Vec<usize>,
    /// Where a pattern is found again: its number + 1, 0 where there is none.
    slots: Vec<u32>,
}

impl Patterns {
    /// Forgets all; at most `rows` rows of d features will come.
    pub fn begin(&mut self, d: usize, rows: usize) {
        self.words = d.div_ceil(64);
        self.bits.clear();
        self.features.clear();
        self.feature_starts.clear();
        self.feature_starts.push(0);
        self.of_row.clear();
        self.slots.clear();
        self.slots.resize((4 * rows).next_power_of_two(), 0);
    }

    /// The next row, by its bits.
    pub fn add(&mut self, bits: &[u64]) {
        let words = self.words;
        let hash = bits.iter().fold(0u64, |h, b| {
            let h = (h ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            h ^ (h >> 32)
        });
        let last = self.slots.len() - 1;
        let mut slot = hash as usize & last;
        let pattern = loop {
            match self.slots[slot] as usize {
                0 => break self.len(),
                known if self.bits[(known - 1) * words..known * words] == *bits => break known - 1,
                _ => slot = (slot + 1) & last,
            }
        };
        if pattern == self.len() {
            self.slots[slot] = pattern as u32 + 1;
            self.bits.extend_from_slice(bits);
            for (word, &bits) in bits.iter().enumerate() {
                let mut left = bits;
                while left != 0 {
                    self.features.push(word as u32 * 64 + left.trailing_zeros());
                    left &= left - 1;
                }
            }
            self.feature_starts.push(self.features.len());
        }
        self.of_row.push(pattern);
    }

    /// After the last row: sorts the rows by pattern.
    pub fn end(&mut self) {
        let patterns = self.len();
        self.row_starts.clear();
        self.row_starts.resize(patterns + 1, 0);
        for &p in &self.of_row {
            self.row_starts[p + 1] += 1;
        }
        for p in 0..patterns {
            self.row_starts[p + 1] += self.row_starts[p];
        }
        self.rows.resize(self.of_row.len(), 0);
        for (i, &p) in self.of_row.iter().enumerate() {
            self.rows[self.row_starts[p]] = i;
            self.row_starts[p] += 1;
        }
        // Every start has moved to its end.
        self.row_starts.rotate_right(1);
        self.row_starts[0] = 0;
    }

    /// How many patterns there are.
    pub fn len(&self) -> usize {
        self.feature_starts.len() - 1
    }

    pub fn group(&self, pattern: usize) -> Group<'_> {
        let within = |starts: &[usize]| starts[pattern]..starts[pattern + 1];
        Group {
            rows: &self.rows[within(&self.row_starts)],
            features: &self.features[within(&self.feature_starts)],
            bits: &self.bits[pattern * self.words..(pattern + 1) * self.words],
        }
    }

    /// The pattern of every row.
    pub fn of_rows(&self) -> &[usize] {
        &self.of_row
    }

    /// The group that a row belongs to.
    pub fn of_row(&self, row: usize) -> Group<'_> {
        self.group(self.of_row[row])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_meet_their_likes() {
        let rows: [[u64; 2]; 6] = [[5, 1], [0, 0], [5, 1], [u64::MAX, 3], [5, 0], [0, 0]];
        let mut patterns = Patterns::default();
        for _ in 0..2 {
            patterns.begin(66, rows.len());
            rows.iter().for_each(|bits| patterns.add(bits));
            patterns.end();
        }
        let found: Vec<(Vec<usize>, Vec<u32>)> = (0..patterns.len())
            .map(|p| patterns.group(p))
            .map(|g| (g.rows.to_vec(), g.features.to_vec()))
            .collect();
        let all: Vec<u32> = (0..66).collect();
        let expected = vec![
            (vec![0, 2], vec![0, 2, 64]),
            (vec![1, 5], vec![]),
            (vec![3], all),
            (vec![4], vec![0, 2]),
        ];
        assert_eq!(found, expected);
        for (i, bits) in rows.iter().enumerate() {
            let group = patterns.of_row(i);
            assert!(group.rows.contains(&i));
            assert!((0..66).all(|f| group.has(f) == (bits[f / 64] >> (f % 64) & 1 == 1)));
        }
    }
}
