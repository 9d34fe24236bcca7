//! Server-side profile of statements: MariaDB and MySQL report the time of each stage.

use serde::Serialize;

/// One stage of a statement, or the sum of such stages over several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Name that the server gives it.
    pub stage: String,
    /// Duration.
    pub ns: u64,
    /// Processor time in user mode.
    pub cpu_user_ns: u64,
    /// Processor time in the kernel.
    pub cpu_system_ns: u64,
    /// Blocks read, as the kernel counts them for the server's thread (512 bytes each on Linux).
    pub blocks_in: u64,
    /// Blocks written.
    pub blocks_out: u64,
    /// Page faults that required a read.
    pub major_faults: u64,
    /// Page faults that required no read.
    pub minor_faults: u64,
}

/// Profiles of several statements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// Number of statements.
    pub statements: u64,
    /// Sums by stage, in the order in which they first occurred.
    pub stages: Vec<Stage>,
}

impl Profile {
    /// Add the stages of one more statement.
    pub(crate) fn take(&mut self, stages: Vec<Stage>) {
        self.statements += 1;
        stages.into_iter().for_each(|stage| self.add(stage));
    }

    /// Add the profile of another client.
    pub(crate) fn merge(&mut self, other: Self) {
        self.statements += other.statements;
        other.stages.into_iter().for_each(|stage| self.add(stage));
    }

    fn add(&mut self, more: Stage) {
        let Some(mine) = self.stages.iter_mut().find(|mine| mine.stage == more.stage) else {
            self.stages.push(more);
            return;
        };
        mine.ns += more.ns;
        mine.cpu_user_ns += more.cpu_user_ns;
        mine.cpu_system_ns += more.cpu_system_ns;
        mine.blocks_in += more.blocks_in;
        mine.blocks_out += more.blocks_out;
        mine.major_faults += more.major_faults;
        mine.minor_faults += more.minor_faults;
    }
}

/// Query for the profile of the last statement.
pub(crate) const ASK: &str = "SHOW PROFILE CPU, BLOCK IO, PAGE FAULTS";

/// Parse a row of the answer; `None` if it has another form. Times are in seconds with six digits.
pub(crate) fn stage(row: &[Option<String>]) -> Option<Stage> {
    let [Some(name), rest @ ..] = row else { return None };
    let [ns, cpu_user_ns, cpu_system_ns, blocks_in, blocks_out, major_faults, minor_faults] = rest else {
        return None;
    };
    let time = |text: &Option<String>| Some((text.as_ref()?.parse::<f64>().ok()? * 1e9).round() as u64);
    // A count that this system does not keep is NULL.
    let count = |text: &Option<String>| text.as_ref().map_or(Some(0), |text| text.parse().ok());
    Some(Stage {
        stage: name.clone(),
        ns: time(ns)?,
        cpu_user_ns: time(cpu_user_ns)?,
        cpu_system_ns: time(cpu_system_ns)?,
        blocks_in: count(blocks_in)?,
        blocks_out: count(blocks_out)?,
        major_faults: count(major_faults)?,
        minor_faults: count(minor_faults)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profile_rows_add_up_by_stage() {
        let row = |texts: [&str; 8]| stage(&texts.map(|text| Some(text.to_string()))).expect("a stage");
        let sending = row(["Sending data", "0.031250", "0.020000", "0.001000", "64", "0", "1", "7"]);
        assert_eq!((sending.ns, sending.cpu_user_ns, sending.blocks_in), (31_250_000, 20_000_000, 64));
        let mut profile = Profile::default();
        profile.take(vec![row(["Opening", "0.000010", "0.0", "0.0", "0", "0", "0", "0"]), sending.clone()]);
        profile.take(vec![sending.clone()]);
        let mut whole = Profile::default();
        whole.merge(profile);
        assert_eq!((whole.statements, whole.stages.len()), (2, 2));
        assert_eq!((whole.stages[1].ns, whole.stages[1].minor_faults), (2 * sending.ns, 14));
        assert_eq!(stage(&[Some("Opening".into()), None]), None);
    }
}
