//! Summary of a planned study.

use crate::study::{Answer, Japanese, Method, Published, Search, Study, Varies, Window};
use crate::toml::axes::{AxisTable, UnknownTable};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Summary of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Stem of its file.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// Comparison and figures of its answer.
    #[serde(default)]
    pub answer: Option<Answer>,
    /// Title, question and names in Japanese.
    #[serde(default)]
    pub japanese: Option<Japanese>,
    /// Its axes, in order.
    pub axes: Vec<AxisSummary>,
    /// Its unknown settings, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownSummary>,
    /// Published figures that its cells reproduce.
    pub published: Vec<Published>,
    /// Windows besides each phase and `all`.
    pub windows: IndexMap<String, Window>,
    /// True if only the quick part was planned.
    #[serde(default)]
    pub quick: bool,
    /// The published method that it follows.
    #[serde(default)]
    pub method: Option<Method>,
    /// Search.
    #[serde(default)]
    pub search: Option<Search>,
}

/// An axis in a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AxisSummary {
    /// Its name.
    pub name: String,
    /// Across runs or within a run.
    pub varies: Varies,
    /// Labels of its levels.
    pub levels: Vec<String>,
}

/// An unknown setting in a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnknownSummary {
    /// Its name.
    pub name: String,
    /// Label of the level that the cells run at.
    pub assumed: String,
    /// Labels of its levels.
    pub levels: Vec<String>,
}

pub(crate) fn summarise(name: &str, study: &Study, axes: &[AxisTable<'_>], unknowns: &[UnknownTable<'_>]) -> Summary {
    let unknown = |unknown: &UnknownTable<'_>| {
        let levels: Vec<String> = unknown.axis.levels.iter().map(|(label, _)| label.clone()).collect();
        UnknownSummary { name: unknown.axis.name.clone(), assumed: levels[unknown.assumed].clone(), levels }
    };
    let axis = |axis: &AxisTable<'_>| AxisSummary {
        name: axis.name.clone(),
        varies: axis.varies,
        levels: axis.levels.iter().map(|(label, _)| label.clone()).collect(),
    };
    Summary {
        name: name.to_string(),
        title: study.title.clone(),
        question: study.question.clone(),
        answer: study.answer.clone(),
        japanese: study.japanese.clone(),
        axes: axes.iter().map(axis).collect(),
        unknown: unknowns.iter().map(unknown).collect(),
        published: study.published.clone(),
        windows: study.window.clone(),
        quick: false,
        method: study.method.clone(),
        search: study.search.clone(),
    }
}
