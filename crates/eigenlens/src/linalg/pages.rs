//! Pages of memory fresh from the system, many at a time: each that is written before it was asked for
//! interrupts the program, which for scores of tens of megabytes was a fifth of the pass that makes them.

/// Asks for the pages under memory that will be written next, by the thread that will write it. A hint:
/// nothing depends on it, and what the memory holds stays as it is.
pub(crate) fn populate_pages<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        // Fewer are not worth a call.
        const FEW: usize = 4;
        let start = memory.as_mut_ptr().cast::<u8>();
        // What is not a whole page was, or will be, written by a neighbour.
        let skipped = start.align_offset(PAGE);
        let pages = size_of_val(memory).saturating_sub(skipped) / PAGE;
        if pages >= FEW {
            // SAFETY: whole pages within the slice, which is borrowed to be written; the call changes
            // nothing that they hold. A system that does not know it refuses, and pages come one by one.
            unsafe {
                let from = start.add(skipped).cast();
                libc::madvise(from, pages * PAGE, libc::MADV_POPULATE_WRITE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_holds_what_it_held() {
        for (length, from) in [(0, 0), (5, 1), (100_000, 0), (100_000, 3_333), (4_096, 77)] {
            let mut memory: Vec<f32> = (0..length).map(|i| i as f32).collect();
            populate_pages(&mut memory[from..]);
            assert!(memory.iter().enumerate().all(|(i, &v)| v == i as f32));
        }
        let mut overwrite = vec![0u64; 1 << 20];
        populate_pages(&mut overwrite);
        assert!(overwrite.iter().all(|&v| v == 0));
    }
}
