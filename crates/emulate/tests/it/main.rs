//! Tests of served drives without a kernel: bytes, durability, order.

mod cuts;
mod drives;
mod faults;
mod mirrors;
mod storages;
mod store;
mod support;
