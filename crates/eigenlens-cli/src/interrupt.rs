//! What happens on Ctrl-C.

/// On an interrupt or a request to end: temporary files are removed, and the program ends with 130.
pub fn leave_nothing_behind() {
    let handler = || eigenlens_io::write::cleanup_temporaries_and_exit(130);
    // Without a handler the program works all the same; only a temporary file could stay.
    let _ = ctrlc::set_handler(handler);
}
