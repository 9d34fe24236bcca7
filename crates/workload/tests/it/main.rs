//! Programs, carried out on the reference store.

mod programs;
mod support;
mod tpcc_inputs;
mod tpcc_rows;
