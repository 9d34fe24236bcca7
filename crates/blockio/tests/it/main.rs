//! Load on real files: bytes moved, bytes left alone, records and failures.

mod bench;
mod calls;
mod failures;
mod rounds;
mod sources;
mod streams;
mod verify;
mod work;
