//! Panics of foreign decoders become errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside [`contained`], where a panic is an answer and not an event.
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which must not hand work to other threads; a panic comes back as its message, and
/// nothing is printed.
///
/// The panic hook belongs to the whole process, so it is wrapped once and for all and asks whose
/// panic it is. A hook that the program sets later replaces ours; then contained panics are printed,
/// and still contained.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    static WRAP: Once = Once::new();
    WRAP.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CONTAINED.try_with(Cell::get).unwrap_or(false) {
                previous(info);
            }
        }));
    });
    let outer = CONTAINED.replace(true);
    // What `work` leaves half-done is never looked at again: the callers drop their readers.
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(outer);
    result.map_err(|payload| message(payload.as_ref()))
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).into()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "the decoder gave up".into()
    }
}

#[cfg(test)]
mod tests {
    use super::contained;

    #[test]
    fn a_panic_comes_back_as_its_message() {
        assert_eq!(contained(|| 1), Ok(1));
        assert_eq!(contained(|| panic!("no byte")), Err::<(), _>("no byte".into()));
        assert_eq!(contained(|| contained(|| panic!("{}", 2))), Ok(Err::<(), _>("2".into())));
    }
}
