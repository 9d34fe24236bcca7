//! Waits of SQLite for a lock, in a run's own time.

use rusqlite::{Connection, ffi};
use std::os::raw::{c_int, c_void};
use std::time::Duration;
use tameshi_base::Slow;

/// Delays of SQLite's own busy handler in milliseconds; the last one repeats.
const DELAYS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];
const NANOSECONDS: u64 = 1_000_000;

/// Stretch the connection's waits for a lock, up to its present busy timeout, by slow motion.
pub(super) fn stretch(connection: &Connection, slow: Slow) -> rusqlite::Result<()> {
    if slow == Slow::NONE {
        return Ok(());
    }
    let timeout: u32 = connection.query_row("PRAGMA busy_timeout", [], |row| row.get(0))?;
    let thousandths = (f64::from(slow) * 1000.0) as usize;
    let packed = thousandths << u32::BITS | timeout as usize;
    // SAFETY: the connection is open; the handler reads its argument as a number.
    let status = unsafe { ffi::sqlite3_busy_handler(connection.handle(), Some(wait), packed as *mut c_void) };
    if status == ffi::SQLITE_OK { Ok(()) } else { Err(rusqlite::Error::SqliteFailure(ffi::Error::new(status), None)) }
}

extern "C" fn wait(packed: *mut c_void, tries: c_int) -> c_int {
    let packed = packed as usize;
    let (thousandths, timeout) = (packed >> u32::BITS, packed & u32::MAX as usize);
    let Some(delay) = delay_ms(tries.unsigned_abs() as usize, timeout as u64) else { return 0 };
    std::thread::sleep(Duration::from_nanos(delay * NANOSECONDS / 1000 * thousandths as u64));
    1
}

/// Return the delay before the next try in own time; `None` after the timeout.
fn delay_ms(tries: usize, timeout: u64) -> Option<u64> {
    let last = DELAYS.len() - 1;
    let prior = DELAYS[..tries.min(last)].iter().sum::<u64>() + DELAYS[last] * tries.saturating_sub(last) as u64;
    let delay = DELAYS[tries.min(last)].min(timeout.saturating_sub(prior));
    (delay > 0).then_some(delay)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn delays_follow_sqlite_and_end_at_the_timeout() {
        let all: Vec<u64> = (0..).map_while(|tries| delay_ms(tries, 400)).collect();
        assert_eq!(all, [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100, 72]);
        assert_eq!(delay_ms(0, 0), None);
    }

    #[test]
    fn locked_database_is_given_up_after_the_stretched_timeout() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = || Connection::open(folder.path().join("db")).expect("a database");
        let (holder, waiter) = (open(), open());
        holder.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
        waiter.busy_timeout(Duration::from_millis(50)).expect("a timeout");
        stretch(&waiter, Slow::new(4.0).expect("a factor in range")).expect("a handler");
        let begin = Instant::now();
        assert!(waiter.execute_batch("BEGIN EXCLUSIVE").is_err());
        let waited = begin.elapsed();
        assert!(waited >= Duration::from_millis(200) && waited < Duration::from_secs(2), "{waited:?}");
    }
}
