//! Bars with rate and time left, when stderr is a terminal.

use crate::reporter::Reporter;
use eigenlens::model::number;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::ops::ControlFlow;
use std::time::Duration;

/// A bar over bytes that are read or rows that are written; silent where nobody looks.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar over bytes; the total may become known later.
    pub fn bytes(reporter: &Reporter, what: &'static str) -> Progress {
        let template =
            "{prefix:.dim} {bar:30} {bytes}/{total_bytes} {binary_bytes_per_sec} {eta} left";
        Progress::new(reporter, what, template)
    }

    /// A sign of life while something of unknown length goes on.
    pub fn spinner(reporter: &Reporter, what: &'static str) -> Progress {
        let progress = Progress::new(reporter, what, "{prefix:.dim} {spinner} {elapsed} {msg}");
        if reporter.shows_progress() {
            progress.bar.enable_steady_tick(Duration::from_millis(120));
        }
        progress
    }

    fn new(reporter: &Reporter, what: &'static str, template: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(
            None,
            if reporter.shows_progress() {
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

    /// The steps of an iteration, told beside it.
    pub fn steps(&self) -> Steps {
        Steps { bar: Some(self.bar.clone()) }
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

/// Where the steps of an iteration are told.
#[derive(Clone, Default)]
pub struct Steps {
    bar: Option<ProgressBar>,
}

impl Steps {
    /// Tells every step; it never ends the iteration.
    pub fn observer(&self) -> impl FnMut(&eigenlens::Progress) -> ControlFlow<()> + Send + use<> {
        let bar = self.bar.clone();
        let mut before = None;
        move |step| {
            if let Some(bar) = &bar {
                let text = step_text(step.iteration, step.log_likelihood, before, step.change);
                bar.set_message(text);
            }
            before = Some(step.log_likelihood);
            ControlFlow::Continue(())
        }
    }
}

/// One step in words, from its log-likelihood and that of the step before.
fn step_text(iteration: usize, now: f64, before: Option<f64>, change: f64) -> String {
    // A fall is the beginning of another iteration.
    let gain = before.map(|before| now - before).filter(|gain| *gain >= 0.0);
    let gain = gain.map_or(String::new(), |gain| format!(" (+{gain:.1e})"));
    format!("step {iteration}, ln L {}{gain}, change {change:.1e}", number(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_say_what_they_gained() {
        let text = |now, before| step_text(7, now, before, 0.00123);
        assert_eq!(text(-250.5, Some(-251.0)), "step 7, ln L -250.50 (+5.0e-1), change 1.2e-3");
        assert_eq!(text(-250.5, None), "step 7, ln L -250.50, change 1.2e-3");
        assert_eq!(text(-300.0, Some(-250.5)), "step 7, ln L -300.00, change 1.2e-3");
    }
}
