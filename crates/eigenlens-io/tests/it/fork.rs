//! Processes that were split in two.

use crate::common::{Scratch, read_files};
use eigenlens_io::ReadOptions;
use std::panic::catch_unwind;

unsafe extern "C" {
    fn fork() -> i32;
    fn alarm(seconds: u32) -> u32;
    fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

#[test]
fn a_child_reads_after_its_parent_has_read() {
    let scratch = Scratch::new();
    let file = scratch.file("t.csv", "a,b\n1.5,2\n3,4.25\n");
    let read = || read_files(std::slice::from_ref(&file), &ReadOptions::default());
    let rows = read().expect("a table").rows;
    // SAFETY: the child only reads the table and ends, without running what belongs to the tests.
    let status = unsafe {
        match fork() {
            0 => {
                // A child that waits for threads it does not have is ended by the system.
                alarm(60);
                let is_same = catch_unwind(|| read().is_ok_and(|again| again.rows == rows));
                _exit(if is_same.unwrap_or(false) { 0 } else { 1 })
            }
            child => {
                let mut status = -1;
                assert_eq!(waitpid(child, &mut status, 0), child);
                status
            }
        }
    };
    assert_eq!(status, 0);
}
