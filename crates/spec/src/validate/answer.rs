//! Checks of an answer and of Japanese words: the axes, levels, phases, metrics and subjects that
//! they name exist.

use crate::errors::unknown_name;
use crate::study::summary::Summary;
use crate::study::{Answer, AnswerTable, Scalar};
use crate::toml::document::{Source, Table};
use crate::validate::names::Names;
use crate::validate::published::{TOGETHER, is_metric};
use tameshi_base::metrics::METRICS;
use tameshi_base::{InputError, InputErrorKind};

type Checked = Result<(), InputError>;

/// A study and all that an answer may name.
struct Named<'s> {
    source: Source<'s>,
    table: &'s Table<'s>,
    study: &'s Summary,
    phases: Vec<String>,
    subjects: Vec<String>,
}

/// Refuse answers and Japanese words for absent axes, levels, phases, metrics or subjects.
pub(crate) fn check(source: Source<'_>, table: &Table<'_>, study: &Summary, names: &Names) -> Checked {
    let named = Named { source, table, study, phases: names.phases(), subjects: names.subjects() };
    named.japanese()?;
    let Some(answer) = &study.answer else { return Ok(()) };
    for (axis, pairs) in &answer.levels {
        named.axis(&["answer", "levels", axis], axis)?;
        for (level, base) in pairs {
            for found in [level, &base.0] {
                named.level(&["answer", "levels", axis, level], axis, found)?;
            }
        }
    }
    for (phase, base) in &answer.phases {
        for found in [phase, &base.0] {
            named.phase(&["answer", "phases", phase], found)?;
        }
    }
    named.metric(&["answer"], answer.metric.as_ref(), answer.subject.as_ref())?;
    answer.table.iter().enumerate().try_for_each(|(index, table)| named.answer_table(answer, index, table))
}

impl Named<'_> {
    fn answer_table(&self, answer: &Answer, index: usize, of: &AnswerTable) -> Checked {
        let index = index.to_string();
        let path = ["answer", "table", index.as_str()];
        let at = |key| [&path[..], &[key]].concat();
        if of.metric.is_none() && answer.metric.is_none() {
            let message = "a table needs a metric, its own or the answer's";
            let mut error = self.source.error_at(self.table, &path, InputErrorKind::MissingKey, message);
            error.accepted = vec!["metric = \"transaction.rate\", or another of docs/reference/metrics.md".into()];
            return Err(error);
        }
        self.axis(&at("rows"), &of.rows)?;
        of.columns.iter().try_for_each(|axis| self.axis(&at("columns"), axis))?;
        for (key, levels) in [("at", &of.at), ("base", &of.base)] {
            for (axis, Scalar(level)) in levels {
                let path = [&path[..], &[key, axis]].concat();
                self.axis(&path, axis)?;
                self.level(&path, axis, level)?;
            }
        }
        of.phase.iter().try_for_each(|phase| self.phase(&at("phase"), phase))?;
        self.metric(&path, of.metric.as_ref(), of.subject.as_ref())
    }

    /// Names in Japanese are of something in the study.
    fn japanese(&self) -> Checked {
        let axes = self.study.axes.iter().flat_map(|axis| axis.levels.iter().chain([&axis.name]));
        let unknown = self.study.unknown.iter().flat_map(|setting| setting.levels.iter().chain([&setting.name]));
        let known: Vec<String> = axes.chain(unknown).chain(&self.phases).chain(&self.subjects).cloned().collect();
        let mut names = self.study.japanese.iter().flat_map(|japanese| japanese.names.keys());
        let Some(name) = names.find(|name| !known.contains(name)) else { return Ok(()) };
        let path = ["japanese", "names", name];
        Err(unknown_name(self.source, self.table, &path, "axis, level, phase or stream", name, known))
    }

    fn axis(&self, path: &[&str], axis: &str) -> Checked {
        let axes: Vec<String> = self.study.axes.iter().map(|known| known.name.clone()).collect();
        if axes.iter().any(|known| known == axis) {
            return Ok(());
        }
        Err(unknown_name(self.source, self.table, path, "axis", axis, axes))
    }

    fn level(&self, path: &[&str], axis: &str, level: &String) -> Checked {
        let levels = self.study.axes.iter().find(|known| known.name == axis).map(|known| &known.levels);
        match levels {
            Some(levels) if !levels.contains(level) => {
                let what = format!("level of axis `{axis}`");
                Err(unknown_name(self.source, self.table, path, &what, level, levels.clone()))
            }
            _ => Ok(()),
        }
    }

    fn phase(&self, path: &[&str], phase: &String) -> Checked {
        if self.phases.contains(phase) {
            return Ok(());
        }
        Err(unknown_name(self.source, self.table, path, "phase", phase, self.phases.clone()))
    }

    fn metric(&self, path: &[&str], metric: Option<&String>, subject: Option<&String>) -> Checked {
        let at = |key| [path, &[key]].concat();
        if let Some(metric) = metric.filter(|metric| !is_metric(metric)) {
            let known = METRICS.iter().map(|metric| metric.name).chain(TOGETHER).map(str::to_string).collect();
            let error = unknown_name(self.source, self.table, &at("metric"), "metric", metric, known);
            let accepted = ["those of docs/reference/metrics.md"].into_iter().chain(TOGETHER);
            return Err(InputError { accepted: accepted.map(str::to_string).collect(), ..error });
        }
        match subject {
            Some(subject) if !self.subjects.contains(subject) => {
                let known = self.subjects.clone();
                Err(unknown_name(self.source, self.table, &at("subject"), "subject", subject, known))
            }
            _ => Ok(()),
        }
    }
}
