//! Tests of the simulated world from outside: a suite for all devices, known answers, whole runs.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and start threads")]

mod arbitration;
mod calibration;
mod change_buffer;
mod channels;
mod crashes;
mod database;
mod deliveries;
mod device_suite;
mod disk_answers;
mod disk_streams;
mod events;
mod fast_path;
mod faults;
mod flash;
mod flushes;
mod free_list;
mod hosts;
mod idle;
mod latency_parts;
mod modes;
mod page_cache;
mod power;
mod power_loss;
mod profiles;
mod queueing;
mod read_ahead;
mod read_threads;
mod restarts;
mod runs;
mod same_digest;
mod server_options;
mod single_pages;
mod slc_cache;
mod slots;
mod small_requests;
mod space;
mod stacks;
mod steady;
mod streams;
mod support;
mod switched_off;
mod thermal;
mod volumes;
mod write_amplification;
