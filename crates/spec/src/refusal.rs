//! What a world can't do of a run, at the place in the study that asks for it.

use crate::axes::{take_axes, take_quick};
use crate::document::{Source, has_key, merge, span_of};
use crate::run::RunSpec;
use crate::study::Varies;
use tameshi_base::{InputError, InputErrorKind};

/// The error of a sentence that begins with its key, as worlds say what they can't do of a run. `quick`: the run was planned
/// with the study's quick part.
pub fn refusal(source: Source<'_>, quick: bool, run: &RunSpec, sentence: &str) -> InputError {
    placed(source, quick, run, sentence).unwrap_or_else(|error| error)
}

fn placed(source: Source<'_>, quick: bool, run: &RunSpec, sentence: &str) -> Result<InputError, InputError> {
    let (key, why) = sentence.split_once(": ").unwrap_or(("", sentence));
    let path: Vec<&str> = key.split('.').collect();
    let mut table = source.parse()?;
    if let Some(overlay) = take_quick(source, &mut table)?.filter(|_| quick) {
        merge(&mut table, &overlay);
    }
    let axes = take_axes(source, &mut table)?;
    for axis in axes.iter().filter(|axis| axis.varies == Varies::Across) {
        let chosen = axis.levels.iter().filter(|(label, _)| run.cell.get(&axis.name) == Some(label));
        chosen.for_each(|(_, level)| merge(&mut table, level));
    }
    let within = axes.iter().filter(|axis| axis.varies == Varies::Within).flat_map(|axis| &axis.levels);
    let tables = std::iter::once(&table).chain(within.map(|(_, level)| level));
    let saying: Vec<_> = tables.filter(|table| has_key(table, &path)).collect();
    let (table, known) = match saying[..] {
        [] => (&table, &path[..]),
        [only] => (only, &path[..]),
        // Which of the levels within the run it is of, nobody says.
        [.., last] => (last, &path[..path.len() - 1]),
    };
    let message = format!("the {} world can't run this: {why}", run.world.word());
    let error = source.error_at(table, known, InputErrorKind::Unsupported, message);
    // What the study says nothing of has no line of its own.
    let line = if span_of(table, known).is_empty() { 0 } else { error.line };
    Ok(InputError { key: key.to_string(), line, ..error })
}
