//! Signals: what happens on Ctrl-C, and where a file becomes too large.

/// On an interrupt or a request to end: temporary files are removed, and the program ends with 130.
pub fn leave_nothing_behind() {
    let handler = || eigenlens_io::write::cleanup_temporaries_and_exit(130);
    // Without a handler the program works all the same; only a temporary file could stay.
    let _ = ctrlc::set_handler(handler);
}

/// A file that would become larger than is allowed is an error of writing, not the end of the process.
pub fn report_large_files() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal runs no code of ours; no other thread is there yet.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}
