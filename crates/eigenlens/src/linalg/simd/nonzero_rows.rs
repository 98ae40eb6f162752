//! Rows of packed panels that are not all zeros: in data that are mostly one value most of them are.

/// For every eight columns of packed panels the rows in which not all of them are 0.
pub struct NonzeroRows {
    depth: usize,
    stride: usize,
    /// Where each eight columns begin in `offsets`, and the last end.
    starts: Vec<u32>,
    /// Elements from the first row of a panel. Below `depth · stride`, so that products need not ask.
    offsets: Vec<u16>,
}

impl NonzeroRows {
    /// Columns that have their rows in common: those of the largest register tile.
    pub const GROUP: usize = 8;

    /// Whether products of this CPU pass over steps that are not listed.
    pub fn help() -> bool {
        super::has_wide_registers()
    }

    /// Of panels with `depth` rows of `stride` elements, none of them looked at yet.
    pub fn new(depth: usize, stride: usize) -> NonzeroRows {
        assert!(depth * stride <= usize::from(u16::MAX) && stride.is_multiple_of(Self::GROUP));
        NonzeroRows { depth, stride, starts: vec![0], offsets: Vec::new() }
    }

    /// The next eight columns have something in all rows, or in none.
    pub fn push(&mut self, any: bool) {
        if any {
            self.offsets.extend((0..self.depth).map(|p| (p * self.stride) as u16));
        }
        self.starts.push(self.offsets.len() as u32);
    }

    /// The next eight columns are those from `column` on of a panel.
    pub fn push_columns<T: Copy + Default + PartialEq>(&mut self, panel: &[T], column: usize) {
        let from = self.offsets.len();
        self.offsets.resize(from + self.depth, 0);
        let (found, mut count) = (&mut self.offsets[from..], 0);
        let (depth, stride) = (self.depth, self.stride);
        super::vectorized(
            #[inline(always)]
            || {
                for (p, row) in panel.chunks_exact(stride).take(depth).enumerate() {
                    let columns = &row[column..column + Self::GROUP];
                    let some = columns.iter().fold(false, |some, x| some | (*x != T::default()));
                    // Written without asking, and written over unless it counts.
                    found[count] = (p * stride) as u16;
                    count += usize::from(some);
                }
            },
        );
        self.offsets.truncate(from + count);
        self.starts.push(self.offsets.len() as u32);
    }

    /// Whether any of some groups has a row at all.
    pub fn any(&self, mut groups: std::ops::Range<usize>) -> bool {
        groups.any(|group| self.starts[group] < self.starts[group + 1])
    }

    /// The rows of eight columns, for operands that lie like the panels.
    pub(super) fn of(&self, group: usize, depth: usize, strides: [usize; 2]) -> &[u16] {
        assert!(self.depth == depth && strides == [self.stride; 2]);
        &self.offsets[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}
