//! The load on real files: what it moves, what it leaves alone, what it records, and how it fails.

mod bench;
mod calls;
mod failures;
mod rounds;
mod sources;
mod streams;
mod verify;
mod work;
