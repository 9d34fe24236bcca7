//! A device of any kind.

use super::array::Array;
use super::cache::Cache;
use super::replica::Replica;
use super::shared::Shared;
use crate::device::in_place::{InPlace, Prefetch};
use crate::device::loss::{Loss, Rebuilt};
use crate::device::{DeviceCompletion, Flash, Hdd, Model, NoDevice, Null, Volume, XPoint};
use tameshi_base::{Command, Nanos, Reason};
use tameshi_record::{Heat, Usage, Wear};
use tameshi_spec::run::Function;
use tameshi_workload::Priority;

/// Evaluate a call on the model inside a device.
macro_rules! dispatch {
    ($device:expr, $model:ident => $call:expr) => {
        match $device {
            Device::Null($model) => $call,
            Device::Hdd($model) => $call,
            Device::Flash($model) => $call,
            Device::XPoint($model) => $call,
            Device::Volume($model) => $call,
            Device::Array($model) => $call,
            Device::Replica($model) => $call,
            Device::Shared($model) => $call,
            Device::Cache($model) => $call,
        }
    };
}

/// Forward the methods of [`Model`] to the model inside a device: inherent methods, and the trait
/// by these.
macro_rules! forward {
    (
        shared { $($view:ident($($a:ident: $a_type:ty),*) $(-> $seen:ty)?;)* }
        exclusive { $($change:ident($($b:ident: $b_type:ty),*) $(=> $check:ident($checked:ident))? $(-> $made:ty)?;)* }
    ) => {
        impl Device {
            $(
                #[doc = concat!("See [`Model::", stringify!($view), "`].")]
                #[inline]
                pub fn $view(&self, $($a: $a_type),*) $(-> $seen)? {
                    dispatch!(self, model => Model::$view(model.as_ref(), $($a),*))
                }
            )*
            $(
                #[doc = concat!("See [`Model::", stringify!($change), "`].")]
                #[doc = ""]
                #[doc = "# Errors"]
                #[doc = "Those of the trait's method, where it returns a result."]
                #[inline]
                pub fn $change(&mut self, $($b: $b_type),*) $(-> $made)? {
                    $(debug_assert!($check(self, $checked));)?
                    dispatch!(self, model => Model::$change(model.as_mut(), $($b),*))
                }
            )*
        }

        impl Model for Device {
            type Inner = NoDevice;

            $(
                #[inline]
                fn $view(&self, $($a: $a_type),*) $(-> $seen)? {
                    Self::$view(self, $($a),*)
                }
            )*
            $(
                #[inline]
                fn $change(&mut self, $($b: $b_type),*) $(-> $made)? {
                    Self::$change(self, $($b),*)
                }
            )*
        }
    };
}

/// A device of any kind.
#[derive(Debug)]
pub enum Device {
    /// Device without cost.
    Null(Box<Null>),
    /// Hard disk.
    Hdd(Box<Hdd>),
    /// Flash drive.
    Flash(Box<Flash>),
    /// 3D XPoint drive.
    XPoint(Box<XPoint>),
    /// Volume of a virtual machine or a cloud, known by its behaviour only.
    Volume(Box<Volume>),
    /// Members in stripes, as mirrors or with parity.
    Array(Box<Array<Self>>),
    /// Device across a link.
    Replica(Box<Replica<Self>>),
    /// Drive that several functions share.
    Shared(Box<Shared<Self>>),
    /// Device behind a cache.
    Cache(Box<Cache<Self>>),
}

forward! {
    shared {
        next_wake() -> Option<Nanos>;
        prefetch(command: &Command);
        usage(now: Nanos, usage: &mut Usage);
        energy_nj(now: Nanos) -> Option<u64>;
        heat(now: Nanos) -> Option<Heat>;
        add_wear(wear: &mut Wear);
        is_composite() -> bool;
        is_broken() -> bool;
        rebuilt_bytes() -> u64;
        behind_bytes() -> Option<u64>;
        unwritten(writes: &mut Vec<(u64, u64)>);
        volatile_ranges(ranges: &mut Vec<(u64, u64)>);
        unsent() -> Option<u64>;
        is_writing(bytes: u64) -> bool;
    }
    exclusive {
        submit(now: Nanos, command: &Command) => is_advanced(now);
        advance(now: Nanos, completions: &mut Vec<DeviceCompletion>);
        lose_power(now: Nanos) -> Loss;
        cut_power(now: Nanos) -> Loss;
        fail(drive: Option<u32>, now: Nanos) -> bool;
        fail_channel(drive: u32, channel: u32, now: Nanos) -> Result<bool, Reason>;
        replace(drive: u32, now: Nanos) -> Result<(), Reason>;
        fail_over(now: Nanos) -> Result<Loss, Reason>;
        take_rebuilt() -> Option<Rebuilt>;
        take_lost() -> (u64, u64);
        grant(function: &Function);
        prioritize(priorities: &[Priority]);
        remove_link(now: Nanos);
        change_link(is_up: bool, now: Nanos) -> bool;
        take_back(lacks: &[(u64, u64)], now: Nanos) -> Result<(), Reason>;
    }
}

impl Device {
    /// Return the wear of the flash inside since the begin of the run; `None` without flash.
    pub fn wear(&self) -> Option<Wear> {
        let mut wear = Wear::default();
        self.add_wear(&mut wear);
        (wear.blocks > 0).then_some(wear)
    }
}

/// Return whether all events before `now` have been processed.
fn is_advanced(device: &Device, now: Nanos) -> bool {
    device.next_wake().is_none_or(|wake| wake >= now)
}

impl Device {
    /// Return the device as one with slots in place, if it is one.
    #[inline(always)]
    pub(crate) fn in_place(&mut self) -> Option<&mut (impl InPlace + Prefetch)> {
        match self {
            Self::Flash(flash) => Some(&mut **flash),
            _ => None,
        }
    }

    /// Return the device as one that prefetches, if it is one.
    #[inline(always)]
    pub(crate) fn prefetching(&self) -> Option<&impl Prefetch> {
        match self {
            Self::Flash(flash) => Some(&**flash),
            _ => None,
        }
    }

    /// Submit a command that was just built field by field: inlined where a copy is slow to read.
    #[inline(always)]
    pub(crate) fn submit_inline(&mut self, now: Nanos, command: Command) {
        match self {
            Self::Flash(flash) => flash.submit_here(now, &command),
            // A copy by reference: the command itself then need not lie in memory.
            device => device.submit(now, &{ command }),
        }
    }
}
