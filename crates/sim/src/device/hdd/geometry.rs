//! Where bytes lie on a disk: cylinders and angles, and the times that follow from them.
//!
//! Bytes lie in order over cylinders of equal size. Within a cylinder they pass under the head without a loss, as if
//! switching heads were hidden by skew. The first byte of a cylinder is skewed against the last byte of the one
//! before by exactly the seek between them, so that a stream that crosses over loses that seek and no revolution.
//! All positions are "media times": nanoseconds that a head following the bytes from the first one on needs to get
//! there. The angle of a byte is its media time modulo the revolution, and so is the angle under the head at any
//! instant of virtual time: whole nanoseconds, without drift.

use tameshi_base::Nanos;
use tameshi_spec::profile::HddProfile;

/// Mean of √|x − y| for x and y uniform on `[0, 1]`.
const MEAN_ROOT: f64 = 8.0 / 15.0;
const THOUSANDTHS_NS_PER_SECOND: u64 = 1_000_000_000_000;

/// A disk's layout and mechanics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    capacity_bytes: u64,
    cylinders: u64,
    cylinder_bytes: u64,
    /// Media time from one cylinder's first byte to the next one's.
    cylinder_period: Nanos,
    revolution: Nanos,
    /// Thousandths of a byte per second.
    rate: u64,
    seek_min: f64,
    /// Seek over the whole stroke beyond `seek_min`, over the root of the cylinder count.
    seek_root: f64,
}

impl Geometry {
    /// The layout that a profile describes.
    ///
    /// # Errors
    /// A sentence that names the value no disk can have.
    pub(crate) fn new(profile: &HddProfile) -> Result<Self, String> {
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
            cylinder_bytes: capacity_bytes.div_ceil(cylinders),
            cylinder_period: 0,
            revolution: profile.revolution.value.0,
            rate: profile.media_rate.value.0,
            seek_min: seek_min as f64,
            seek_root: stroke / (cylinders as f64).sqrt(),
        };
        geometry.cylinder_period = geometry.passing(geometry.cylinder_bytes) + geometry.seek(1);
        Ok(geometry)
    }

    /// Bytes that can be addressed.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Time of one revolution.
    pub(crate) fn revolution(&self) -> Nanos {
        self.revolution
    }

    /// Time to move the arm over so many cylinders: none, or `seek_min + k·√(distance / cylinders)`.
    #[inline]
    pub(crate) fn seek(&self, distance: u64) -> Nanos {
        if distance == 0 {
            return 0;
        }
        (self.seek_min + self.seek_root * (distance as f64).sqrt() + 0.5) as Nanos
    }

    /// The cylinder of a byte.
    #[inline]
    pub(crate) fn cylinder(&self, offset_bytes: u64) -> u64 {
        offset_bytes / self.cylinder_bytes
    }

    /// The cylinder at a media time.
    pub(crate) fn cylinder_at(&self, media_time: Nanos) -> u64 {
        media_time.checked_div(self.cylinder_period).map_or(0, |cylinder| cylinder.min(self.cylinders - 1))
    }

    /// Time that so many bytes of one cylinder take to pass.
    #[inline]
    fn passing(&self, bytes: u64) -> Nanos {
        match bytes.checked_mul(THOUSANDTHS_NS_PER_SECOND) {
            Some(product) => product / self.rate,
            None => (u128::from(bytes) * u128::from(THOUSANDTHS_NS_PER_SECOND) / u128::from(self.rate)) as Nanos,
        }
    }

    /// Media time at which the byte at `offset_bytes` begins.
    #[inline]
    pub(crate) fn begin(&self, offset_bytes: u64) -> Nanos {
        let cylinder = self.cylinder(offset_bytes);
        cylinder * self.cylinder_period + self.passing(offset_bytes - cylinder * self.cylinder_bytes)
    }

    /// Media time at which the byte before `end_bytes` ends.
    #[inline]
    pub(crate) fn end(&self, end_bytes: u64) -> Nanos {
        let cylinder = self.cylinder(end_bytes.saturating_sub(1));
        cylinder * self.cylinder_period + self.passing(end_bytes - cylinder * self.cylinder_bytes)
    }

    /// Time from `now` until the place at `media_time` comes under the head.
    #[inline]
    pub(crate) fn rotation(&self, now: Nanos, media_time: Nanos) -> Nanos {
        if self.revolution == 0 {
            return 0;
        }
        let (target, head) = (media_time % self.revolution, now % self.revolution);
        if target >= head { target - head } else { target + self.revolution - head }
    }
}
