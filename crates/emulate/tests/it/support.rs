//! Support of the tests: drives of packaged profiles, and a driver in virtual time.

use std::collections::BTreeMap;
use tameshi_base::{CommandKind, Nanos};
use tameshi_emulate::{Departure, Drive, Durability, Request, ServeSpec};
use tameshi_spec::profile::Device;
use tameshi_spec::profiles::Profiles;
use tameshi_spec::run::Node;

pub const SECTOR: u64 = 512;

/// Return a packaged profile's device.
pub fn profile(name: &str) -> Device {
    let file = format!("{}/../../python/tameshi/data/profiles/devices/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&file).expect("a packaged profile");
    let profiles = Profiles { devices: vec![(name.to_string(), file, text)], ..Profiles::default() };
    profiles.device(name).expect("the profile is in the list").expect("a valid profile").device
}

/// Return the flash drive of a profile without its capacitor.
pub fn without_capacitor(name: &str) -> Device {
    let mut device = profile(name);
    let Device::Flash(flash) = &mut device else { panic!("{name} is no flash drive") };
    flash.buffer.power_loss_protection = None;
    device
}

/// Return the settings of a drive of 1 GiB; flash is scaled down to it.
pub fn spec(device: Device) -> ServeSpec {
    sized(device, 1 << 30)
}

/// Return the settings of a drive of some bytes; flash is scaled down to them.
pub fn sized(mut device: Device, bytes: u64) -> ServeSpec {
    let scale = device.capacity().0.div_ceil(bytes) as u32;
    if let Device::Flash(flash) = &mut device {
        flash.simulated.scale = scale;
    }
    ServeSpec {
        node: Node::Device { profile: "tested".into(), device },
        storage: None,
        run_bytes: bytes,
        size_bytes: bytes,
        fails: false,
        forgets: false,
        limit_bytes: 1 << 28,
        store: None,
        seed: 7,
        ignores_flush: false,
        path: "unused".into(),
        source: "unused".into(),
        slow: tameshi_base::Slow::NONE,
        plain: false,
        takes_flushes: true,
        nbd: None,
    }
}

/// Drive under test, with its answers.
pub struct Bench {
    pub drive: Drive,
    pub durability: Durability,
    pub now: Nanos,
    pub answers: Vec<Departure>,
    next: u32,
}

impl Bench {
    pub fn new(spec: &ServeSpec) -> Self {
        let (device, bytes, durability) = spec.build().expect("a drive");
        let store = spec.empty_store(bytes).expect("memory");
        let drive = Drive::new(device, store, durability, spec.seed);
        Self { drive, durability, now: 0, answers: vec![], next: 0 }
    }

    /// Submit a request now; return its tag.
    pub fn submit(&mut self, kind: CommandKind, offset: u64, payload: &mut [u8]) -> u32 {
        let length = if kind == CommandKind::Flush { 0 } else { payload.len() as u64 };
        self.request(kind, offset, length, payload)
    }

    pub fn request(&mut self, kind: CommandKind, offset: u64, length: u64, payload: &mut [u8]) -> u32 {
        let tag = self.next;
        self.next += 1;
        self.drive.arrive(self.now, &Request { tag, kind, offset, length }, payload, &mut self.answers);
        tag
    }

    /// Submit a request and let time pass until its answer.
    pub fn finish(&mut self, kind: CommandKind, offset: u64, payload: &mut [u8]) -> Result<u32, i32> {
        let tag = self.submit(kind, offset, payload);
        loop {
            if let Some(answer) = self.answers.iter().find(|answer| answer.tag == tag) {
                return answer.result;
            }
            self.now = self.drive.next_wake().expect("the drive works on it");
            self.drive.advance(self.now, &mut self.answers);
        }
    }

    /// Let time pass.
    pub fn pass(&mut self, time: Nanos) {
        self.now += time;
        self.drive.advance(self.now, &mut self.answers);
    }

    /// Return the answers by tag.
    pub fn results(&self) -> BTreeMap<u32, Result<u32, i32>> {
        self.answers.iter().map(|answer| (answer.tag, answer.result)).collect()
    }

    /// Return bytes of the store.
    pub fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0xEE; length];
        self.drive.store().read(offset, &mut bytes);
        bytes
    }
}
