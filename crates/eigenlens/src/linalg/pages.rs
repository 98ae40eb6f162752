//! Large pages for large results: memory fresh from the system costs a fault for every page, and a result of
//! tens of megabytes is mostly that. NumPy asks for them in the same way.

/// Below this many bytes pages stay small.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Asks for large pages under memory that is not written yet. A wish: nothing depends on it.
pub(crate) fn prefer_large<T>(memory: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 4096;
        let bytes = size_of_val(memory);
        if bytes < LARGE {
            return;
        }
        let start = memory.as_mut_ptr().cast::<u8>();
        let skipped = start.align_offset(PAGE);
        // SAFETY: whole pages within the slice; the advice changes neither what they hold nor who may use
        // them. Where the system refuses it, pages stay small.
        unsafe {
            libc::madvise(
                start.add(skipped).cast(),
                (bytes - skipped) / PAGE * PAGE,
                libc::MADV_HUGEPAGE,
            );
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = memory;
}
