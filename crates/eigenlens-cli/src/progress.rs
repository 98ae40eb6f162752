//! Bars with rate and time left, when stderr is a terminal.

use crate::talk::Talk;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar over bytes that are read or rows that are written; silent where nobody looks.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar over bytes; the total may become known later.
    pub fn bytes(talk: &Talk, what: &'static str) -> Progress {
        let template =
            "{prefix:.dim} {bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left";
        Progress::new(talk, what, template)
    }

    /// A sign of life while something of unknown length goes on.
    pub fn spinner(talk: &Talk, what: &'static str) -> Progress {
        let progress = Progress::new(talk, what, "{prefix:.dim} {spinner} {elapsed}");
        if talk.shows_progress() {
            progress.bar.enable_steady_tick(Duration::from_millis(120));
        }
        progress
    }

    fn new(talk: &Talk, what: &'static str, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(
            None,
            if talk.shows_progress() {
                ProgressDrawTarget::stderr_with_hz(10)
            } else {
                ProgressDrawTarget::hidden()
            },
        );
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(what);
        Progress { bar }
    }

    /// Takes the bar away until it moves again: lines of talk come next.
    pub fn pause(&self) {
        self.bar.finish_and_clear();
        self.bar.reset();
    }

    /// How far it is.
    pub fn at(&self, done: u64, total: u64) {
        if total > 0 && self.bar.length() != Some(total) {
            self.bar.set_length(total);
        }
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
