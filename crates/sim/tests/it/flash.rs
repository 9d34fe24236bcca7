//! Flash drives beyond the suite: what was written before a run.

use crate::support::{command, flash_drive};
use tameshi_base::CommandKind;
use tameshi_sim::Device;
use tameshi_spec::profile::{self, FlashProfile, Simulated, Written};

#[test]
fn what_was_written_before_is_there_when_the_first_command_comes_and_counts_for_nothing() {
    for (written, senses) in [(Written::Never, false), (Written::Once, true), (Written::Steady, true)] {
        let simulated = Simulated { scale: 4, written, ..Simulated::default() };
        let drive = FlashProfile { simulated, ..flash_drive(1 << 30) };
        let mut device = Device::new(&profile::Device::Flash(drive)).expect("a drive");
        device.submit(7, &command(0, CommandKind::Read, 1 << 20, 4096));
        let mut done = vec![];
        device.advance(1_000_000, &mut done);
        assert_eq!((done.len(), done[0].submitted), (1, 7));
        assert_eq!(done[0].breakdown.media > 0, senses, "{written:?}: {:?}", done[0]);
        let Device::Flash(flash) = &device else { panic!("a flash drive") };
        assert_eq!(flash.work_since_begin().host_units, 0, "{written:?}");
        let over_provisioning = flash.fills().map(|fill| fill.mapped as f64 / fill.logical as f64);
        over_provisioning.for_each(|used| assert_eq!(used, if senses { 1.0 } else { 0.0 }, "{written:?}"));
    }
}
