//! Geometry of a disk: cylinders, angles, and the times that follow from them.
//!
//! Bytes run over the cylinders from the outermost zone to the innermost. All cylinders of a zone
//! are equal; transfer rate and cylinder capacity fall from zone to zone. Within a cylinder bytes
//! pass under the head without loss, as if skew hid head switches. The first byte of a cylinder is
//! skewed against the last byte of the previous one by exactly the seek between them: a stream that
//! crosses over loses that seek and no revolution.
//!
//! All positions are "media times": the nanoseconds that a head needs to reach them when it follows
//! the bytes from the first. The angle of a byte is its media time modulo the revolution. The angle
//! under the head at any virtual time is that time, plus the disk's angle at time zero, modulo the
//! disk's own revolution: whole nanoseconds.

use super::spindle::Spindle;
use tameshi_base::Nanos;
use tameshi_spec::profile::HddProfile;

/// Mean of √|x − y| for x and y uniform on `[0, 1]`.
const MEAN_ROOT: f64 = 8.0 / 15.0;
const THOUSANDTHS_NS_PER_SECOND: u64 = 1_000_000_000_000;

/// Zone: cylinders of equal capacity.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first_byte: u64,
    first_cylinder: u64,
    /// Media time of its first byte.
    first_time: Nanos,
    cylinder_bytes: u64,
    /// Media time between the first bytes of adjacent cylinders.
    cylinder_period: Nanos,
    /// Thousandths of a byte per second.
    rate: u64,
}

/// Layout and mechanics of a disk.
#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    capacity_bytes: u64,
    cylinders: u64,
    /// Outermost first.
    zones: Vec<Zone>,
    revolution: Nanos,
    spindle: Spindle,
    seek_min: f64,
    /// Full-stroke seek beyond `seek_min`, divided by the root of the cylinder count.
    seek_root: f64,
}

impl Geometry {
    /// Build the geometry of a profile on a spindle.
    ///
    /// # Errors
    /// A sentence that names the value no disk can have.
    pub(super) fn new(profile: &HddProfile, spindle: Spindle) -> Result<Self, String> {
        let refuse = |key: &str, why: &str| Err(format!("a hard disk's {key} {why}"));
        let (seek_min, seek_average) = (profile.seek_min.value.0, profile.seek_average.value.0);
        let (capacity_bytes, cylinders) = (profile.capacity.value.0, u64::from(profile.cylinders.value));
        if capacity_bytes == 0 {
            return refuse("capacity", "must not be zero");
        }
        if cylinders == 0 || cylinders > capacity_bytes {
            return refuse("cylinders", "must be between one and its bytes");
        }
        if profile.media_rate.value.0 == 0 {
            return refuse("media_rate", "must not be zero");
        }
        if seek_average < seek_min {
            return refuse("seek_average", "must not be less than its seek_min");
        }
        let stroke = (seek_average - seek_min) as f64 / MEAN_ROOT;
        let mut geometry = Self {
            capacity_bytes,
            cylinders,
            zones: Vec::new(),
            revolution: spindle.period(profile.revolution.value.0),
            spindle,
            seek_min: seek_min as f64,
            seek_root: stroke / (cylinders as f64).sqrt(),
        };
        geometry.lay_out(profile)?;
        Ok(geometry)
    }

    /// Build the zones: equal numbers of cylinders, with capacities in proportion to their rates.
    fn lay_out(&mut self, profile: &HddProfile) -> Result<(), String> {
        let mean = profile.media_rate.value.0;
        let (count, outer, inner) = match &profile.zones {
            None => (1, mean, mean),
            Some(zones) => (u64::from(zones.count.value), zones.outer_rate.value.0, zones.inner_rate.value.0),
        };
        let [outer, inner] = [outer, inner].map(|rate| self.spindle.rate(rate));
        if count == 0 || count > self.cylinders || inner == 0 || outer < inner {
            return Err("a hard disk's zones must be between one and its cylinders, and its outer_rate no less than its inner_rate".into());
        }
        let rate = |zone: u64| {
            if count == 1 { inner + (outer - inner) / 2 } else { outer - (outer - inner) / (count - 1) * zone }
        };
        let first_cylinder = |zone: u64| self.cylinders * zone / count;
        let weigh = |zone| u128::from(rate(zone)) * u128::from(first_cylinder(zone + 1) - first_cylinder(zone));
        let weight: u128 = (0..count).map(weigh).sum();
        let (mut first_byte, mut first_time, mut zones) = (0, 0, Vec::new());
        for number in 0..count {
            let cylinder_bytes = (u128::from(self.capacity_bytes) * u128::from(rate(number))).div_ceil(weight) as u64;
            let mut zone = Zone {
                first_byte,
                first_cylinder: first_cylinder(number),
                first_time,
                cylinder_bytes,
                cylinder_period: 0,
                rate: rate(number),
            };
            zone.cylinder_period = zone.passing(cylinder_bytes) + self.seek(1);
            let cylinders = first_cylinder(number + 1) - zone.first_cylinder;
            first_byte += cylinders * cylinder_bytes;
            first_time += cylinders * zone.cylinder_period;
            zones.push(zone);
        }
        self.zones = zones;
        Ok(())
    }

    #[inline]
    fn zone(&self, offset_bytes: u64) -> &Zone {
        match self.zones.as_slice() {
            [only] => only,
            zones => &zones[zones.partition_point(|zone| zone.first_byte <= offset_bytes) - 1],
        }
    }

    /// Return the addressable bytes.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Return the time of one revolution.
    pub(crate) fn revolution(&self) -> Nanos {
        self.revolution
    }

    /// Return the seek time over a distance: zero, or `seek_min + k·√(distance / cylinders)`.
    #[inline]
    pub(crate) fn seek(&self, distance: u64) -> Nanos {
        if distance == 0 {
            return 0;
        }
        (self.seek_min + self.seek_root * (distance as f64).sqrt() + 0.5) as Nanos
    }

    /// Return the cylinder of a byte.
    #[inline]
    pub(crate) fn cylinder(&self, offset_bytes: u64) -> u64 {
        self.zone(offset_bytes).cylinder(offset_bytes)
    }

    /// Return the cylinder at a media time.
    pub(crate) fn cylinder_at(&self, media_time: Nanos) -> u64 {
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_time <= media_time).max(1) - 1];
        let within = (media_time - zone.first_time).checked_div(zone.cylinder_period).unwrap_or(0);
        (zone.first_cylinder + within).min(self.cylinders - 1)
    }

    /// Return the media time at which the byte at `offset_bytes` begins.
    #[inline]
    pub(crate) fn begin(&self, offset_bytes: u64) -> Nanos {
        let zone = self.zone(offset_bytes);
        zone.time(zone.cylinder(offset_bytes), offset_bytes)
    }

    /// Return the media time at which the byte before `end_bytes` ends.
    #[inline]
    pub(crate) fn end(&self, end_bytes: u64) -> Nanos {
        let last = end_bytes.saturating_sub(1);
        let zone = self.zone(last);
        zone.time(zone.cylinder(last), end_bytes)
    }

    /// Return the time from `now` until `media_time` is under the head.
    #[inline]
    pub(crate) fn rotation(&self, now: Nanos, media_time: Nanos) -> Nanos {
        if self.revolution == 0 {
            return 0;
        }
        let (target, head) = (media_time % self.revolution, (now + self.spindle.ahead) % self.revolution);
        if target >= head { target - head } else { target + self.revolution - head }
    }
}

impl Zone {
    #[inline]
    fn cylinder(&self, offset_bytes: u64) -> u64 {
        self.first_cylinder + (offset_bytes - self.first_byte) / self.cylinder_bytes
    }

    /// Return the media time of a position in a cylinder, or at its end.
    #[inline]
    fn time(&self, cylinder: u64, offset_bytes: u64) -> Nanos {
        let within = cylinder - self.first_cylinder;
        let rest = offset_bytes - self.first_byte - within * self.cylinder_bytes;
        self.first_time + within * self.cylinder_period + self.passing(rest)
    }

    /// Return the transfer time of bytes within one cylinder.
    #[inline]
    fn passing(&self, bytes: u64) -> Nanos {
        match bytes.checked_mul(THOUSANDTHS_NS_PER_SECOND) {
            Some(product) => product / self.rate,
            None => (u128::from(bytes) * u128::from(THOUSANDTHS_NS_PER_SECOND) / u128::from(self.rate)) as Nanos,
        }
    }
}
