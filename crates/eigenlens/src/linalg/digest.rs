//! Hashes of numbers. What is drawn at random to solve or to probe a problem depends on the problem
//! itself: nobody can choose data that a start or a probe, known beforehand, does not see.

use crate::scalar::Scalar;
use ndarray::ArrayView2;
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

/// A hash of everything it was given, in order, however it was cut into pieces.
pub(crate) struct Digest(Xxh3);

impl Digest {
    pub fn new() -> Digest {
        Digest(Xxh3::new())
    }

    pub fn numbers<T: Scalar>(&mut self, numbers: &[T]) {
        self.0.update(T::as_bytes(numbers));
    }

    pub fn words(&mut self, words: &[u64]) {
        self.0.update(bytemuck::cast_slice(words));
    }

    pub fn indices(&mut self, indices: &[u32]) {
        self.0.update(bytemuck::cast_slice(indices));
    }

    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// Entries hashed by one task.
const PIECE: usize = 1 << 15;

/// Of many numbers, on all threads.
pub(crate) fn of_numbers<T: Scalar>(numbers: &[T]) -> u64 {
    of_pieces(numbers, |digest, piece| digest.numbers(piece))
}

/// Of many indices, on all threads.
pub(crate) fn of_indices(indices: &[u32]) -> u64 {
    of_pieces(indices, |digest, piece| digest.indices(piece))
}

/// Of a matrix in the order of its rows, whatever its layout.
pub(crate) fn of_matrix(matrix: ArrayView2<f64>) -> u64 {
    if let Some(numbers) = matrix.to_slice() {
        return of_numbers(numbers);
    }
    of_numbers(&matrix.iter().copied().collect::<Vec<f64>>())
}

/// Of several hashes, one after the other.
pub(crate) fn of_words(words: &[u64]) -> u64 {
    let mut digest = Digest::new();
    digest.words(words);
    digest.finish()
}

fn of_pieces<T: Sync>(all: &[T], add: impl Fn(&mut Digest, &[T]) + Sync) -> u64 {
    let of_piece = |piece: &[T]| {
        let mut digest = Digest::new();
        add(&mut digest, piece);
        digest.finish()
    };
    let pieces: Vec<u64> = all.par_chunks(PIECE).map(of_piece).collect();
    of_words(&pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    #[test]
    fn every_number_and_its_place_count() {
        let x = Array2::from_shape_fn((300, 200), |(i, j)| (i * 200 + j) as f64);
        let whole = of_matrix(x.view());
        assert_eq!(of_matrix(x.t().to_owned().t()), whole, "the layout does not count");
        for (i, j) in [(0, 0), (150, 7), (299, 199)] {
            let mut other = x.clone();
            other[[i, j]] = other[[i, j]].next_up();
            assert_ne!(of_matrix(other.view()), whole);
        }
        let mut swapped = x.clone();
        swapped.swap([0, 0], [299, 199]);
        assert_ne!(of_matrix(swapped.view()), whole);
    }

    #[test]
    fn pieces_do_not_count() {
        let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
        let mut whole = Digest::new();
        whole.numbers(&numbers);
        let mut parts = Digest::new();
        numbers.chunks(7).for_each(|part| parts.numbers(part));
        assert_eq!(whole.finish(), parts.finish());
    }
}
