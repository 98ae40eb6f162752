//! Buffers that begin at a cache line: a vector register that straddles two lines loads half as fast.

/// A reusable buffer whose first element lies at a multiple of 64 bytes.
#[derive(Default)]
pub(crate) struct Aligned<T> {
    buffer: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// A buffer of zeros.
    pub fn zeros(len: usize) -> Self {
        let mut buffer = Aligned { buffer: Vec::new(), start: 0, len: 0 };
        buffer.resize(len);
        buffer
    }

    /// Makes room for `len` elements: new ones are zero, old ones keep their values where the
    /// buffer is large enough already.
    pub fn resize(&mut self, len: usize) {
        let spare = 64 / size_of::<T>();
        if self.buffer.len() < len + spare {
            self.buffer = vec![T::default(); len + spare];
            self.start = self.buffer.as_ptr().align_offset(64).min(spare);
        }
        self.len = len;
    }
}

impl<T> std::ops::Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer[self.start..self.start + self.len]
    }
}

impl<T> std::ops::DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer[self.start..self.start + self.len]
    }
}
