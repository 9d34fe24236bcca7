//! Temperature of a drive: one heat capacity behind one thermal resistance to the ambient air.
//!
//! The energy of a task warms the drive at once; idle power warms it all the time. Between tasks it
//! approaches its idle temperature exponentially, which is exact for any interval. It is throttled
//! from its throttle threshold until it has cooled to its release threshold.

use tameshi_base::Nanos;
use tameshi_record as record;
use tameshi_spec::profile;

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Temperature of a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thermal {
    /// Degrees Celsius after a long idle time.
    at_rest: f64,
    /// Time constant in nanoseconds.
    constant_ns: f64,
    /// Kelvin per nanojoule.
    warms: f64,
    /// Kelvin above the idle temperature at which throttling begins, and ends.
    throttle: f64,
    release: f64,
    /// Kelvin above the idle temperature, and the time of that value.
    above: f64,
    at: Nanos,
    /// Begin of the present throttling, and throttled time before.
    since: Option<Nanos>,
    throttled_ns: Nanos,
}

impl Thermal {
    /// Temperature of a drive at rest at time zero.
    pub(super) fn new(thermal: &profile::Thermal, idle_mw: u32) -> Self {
        let resistance = f64::from(thermal.resistance_mk_per_w.value) / 1e3;
        let capacity = f64::from(thermal.capacity_mj_per_k.value) / 1e3;
        let at_rest = thermal.ambient.value.degrees() + resistance * f64::from(idle_mw) / 1e3;
        Self {
            at_rest,
            constant_ns: resistance * capacity * SECOND,
            warms: 1.0 / (capacity * SECOND),
            throttle: thermal.throttle.value.degrees() - at_rest,
            release: thermal.release.value.degrees() - at_rest,
            above: 0.0,
            at: 0,
            since: None,
            throttled_ns: 0,
        }
    }

    /// Cool until `now`; return whether the drive is throttled then.
    pub(super) fn is_throttled(&mut self, now: Nanos) -> bool {
        if now > self.at {
            let before = self.above;
            self.above *= libm::exp(-((now - self.at) as f64) / self.constant_ns);
            if let Some(since) = self.since.filter(|_| self.above <= self.release) {
                let cooled = self.constant_ns * libm::log(before / self.release);
                let until = (self.at + cooled as Nanos).clamp(self.at, now);
                self.throttled_ns += until.saturating_sub(since);
                self.since = None;
            }
            self.at = now;
        }
        self.since.is_some()
    }

    /// Warm by `nanojoules`; return whether the drive is throttled.
    pub(super) fn warm(&mut self, nanojoules: u64) -> bool {
        self.above += nanojoules as f64 * self.warms;
        if self.since.is_none() && self.above >= self.throttle {
            self.since = Some(self.at);
        }
        self.since.is_some()
    }

    /// Return the temperature and the throttled time at `now`.
    pub(super) fn report(mut self, now: Nanos) -> record::Heat {
        self.is_throttled(now);
        let throttled_ns = self.throttled_ns + self.since.map_or(0, |since| now.saturating_sub(since));
        let millidegrees = libm::round((self.at_rest + self.above) * 1e3) as u64;
        record::Heat { millidegrees, throttled_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_base::units::Temperature;
    use tameshi_spec::profile::Sourced;

    fn sourced<T>(value: T) -> Sourced<T> {
        Sourced { value, source: "test".into(), fitted_on: None }
    }

    /// Drive of 10 K/W and 10 J/K: time constant 100 s; 1 W idle in 30 °C, so 40 °C at rest.
    fn body() -> Thermal {
        let degrees = |degrees: u32| sourced(Temperature(degrees * 1000));
        let thermal = profile::Thermal {
            ambient: degrees(30),
            resistance_mk_per_w: sourced(10_000),
            capacity_mj_per_k: sourced(10_000),
            throttle: degrees(70),
            release: degrees(60),
            limit_mw: sourced(2_000),
        };
        Thermal::new(&thermal, 1_000)
    }

    const TICK: Nanos = 1_000_000;

    /// Draw `milliwatts` beyond idling for `seconds`, one millisecond's energy at a time.
    fn draw(heat: &mut Thermal, milliwatts: u64, seconds: u64) {
        for _ in 0..seconds * 1000 {
            heat.is_throttled(heat.at + TICK);
            heat.warm(milliwatts * 1000);
        }
    }

    #[test]
    fn constant_load_warms_to_power_times_resistance() {
        let mut heat = body();
        let mut seconds = 0;
        for more in [10, 40, 50, 200, 700] {
            draw(&mut heat, 2_000, more);
            seconds += more;
            let expected = 60.0 - 20.0 * libm::exp(-(seconds as f64) / 100.0);
            let found = heat.report(seconds * 1_000_000_000).millidegrees as f64 / 1e3;
            assert!((found - expected).abs() < 0.002, "after {seconds} s: {found} for {expected}");
        }
        assert_eq!(heat.report(heat.at).throttled_ns, 0);
    }

    #[test]
    fn throttling_lasts_from_threshold_to_release_exactly() {
        let mut heat = body();
        // 30 K above rest: 300 J at once.
        assert!(heat.warm(300_000_000_000));
        let cooled = 100.0 * libm::log(30.0 / 20.0) * SECOND;
        let before = heat.report(cooled as Nanos - 1);
        assert_eq!((before.throttled_ns, before.millidegrees), (cooled as Nanos - 1, 60_000));
        assert!(heat.is_throttled(cooled as Nanos - 1) && !heat.is_throttled(cooled as Nanos + 1));
        let long_after = heat.report(1 << 50);
        assert!(long_after.throttled_ns.abs_diff(cooled as Nanos) <= 1);
        assert_eq!(long_after.millidegrees, 40_000);
        assert!(!heat.warm(50_000_000_000), "five kelvin more leave it below the threshold");
    }

    #[test]
    fn reports_change_nothing() {
        let (mut asked, mut left) = (body(), body());
        for step in 1..1000 {
            asked.warm(100_000);
            left.warm(100_000);
            asked.report(step * TICK - TICK / 2);
            assert_eq!((asked.is_throttled(step * TICK), left.is_throttled(step * TICK)), (false, false));
        }
        assert_eq!(asked.above.to_bits(), left.above.to_bits());
    }
}
