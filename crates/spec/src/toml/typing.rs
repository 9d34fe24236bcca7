//! Errors of serde as errors with place, key, found and accepted.

use crate::profile::Device;
use crate::toml::document::{Source, Table, nearest, span_of};
use crate::toml::tables::Tables;
use serde::de::DeserializeOwned;
use std::ops::Range;
use tameshi_base::{InputError, InputErrorKind};
use toml::Spanned;
use toml::de::DeValue;

/// Spelling of choices that have values besides their name.
pub const WITH_VALUES: &[(&str, &str)] = &[
    ("strided", "{ strided = { run = \"1 MiB\", skip = \"1 MiB\" } }"),
    ("zipf", "{ zipf = { theta_permille = 1200 } }"),
    ("pareto", "{ pareto = { hot = \"20 %\" } }"),
    ("hot_cold", "{ hot_cold = { hot = \"10 %\", accesses = \"90 %\" } }"),
    ("zoned", "{ zoned = [{ accesses = \"90 %\", span = \"10 %\" }, { accesses = \"10 %\", span = \"90 %\" }] }"),
    ("constant", "{ constant = { rate = \"500 /s\" } }"),
    ("poisson", "{ poisson = { rate = \"500 /s\" } }"),
    ("ramp", "{ ramp = { points = [{ at = \"0 s\", rate = \"500 /s\" }, { at = \"10 s\", rate = \"900 /s\" }] } }"),
    ("bursts", "{ bursts = { requests = 64, every = \"10 ms\" } }"),
    ("fdatasync", "{ fdatasync = { every = 1 } }"),
    ("fsync", "{ fsync = { every = 1 } }"),
    ("group_commit", "{ group_commit = { committers = 16 } }"),
    ("more_than", "{ more_than = { cell = { AXIS = \"LEVEL\" } } }"),
    ("ratio_to", "{ ratio_to = { cell = { AXIS = \"LEVEL\" } } }"),
    ("gain_over", "{ gain_over = { cell = { AXIS = \"LEVEL\" } } }"),
    ("same_up_to", "{ same_up_to = { axis = \"AXIS\", whatever = \"AXIS\", within = \"5 %\" } }"),
    ("apart_from", "{ apart_from = { axis = \"AXIS\", whatever = \"AXIS\", beyond = \"5 %\" } }"),
];

/// Keys that had another name: the end of their place, the present name, and the change.
const FORMER: &[(&str, &str, &str)] = &[(
    "replica.acknowledge",
    "protocol",
    "`acknowledge` is now `protocol`: \"local\" is \"asynchronous\", \"both\" is \"far_medium\"",
)];

/// Key of a date that the TOML library passes to a type that expects a table.
const DATE: &str = "$__toml_private_datetime";

impl<'t> Source<'t> {
    /// Types a merged table.
    ///
    /// # Errors
    /// At the first key or value that does not fit.
    pub fn typed<T: DeserializeOwned>(self, table: &Table<'t>) -> Result<T, InputError> {
        let document = Spanned::new(0..self.text.len(), table.clone());
        let document = Tables(toml::Deserializer::from(document));
        T::deserialize(document).map_err(|error| typing_error(self, table, &error))
    }
}

/// The error of a merged table that its type does not take.
fn typing_error(source: Source<'_>, table: &Table<'_>, error: &toml::de::Error) -> InputError {
    let span = error.span().unwrap_or(0..0);
    let misfit = Misfit { source, key: path_at(table, &span), span, message: error.message() };
    misfit
        .unknown()
        .or_else(|| misfit.kinds(table))
        .or_else(|| misfit.without_values())
        .unwrap_or_else(|| misfit.value())
}

/// A value that does not fit.
struct Misfit<'a> {
    source: Source<'a>,
    key: String,
    span: Range<usize>,
    message: &'a str,
}

impl Misfit<'_> {
    fn error(&self, kind: InputErrorKind, sentence: String, found: String, accepted: Vec<String>) -> InputError {
        let mut error = self.source.error(kind, self.span.clone(), &self.key, sentence);
        (error.found, error.accepted) = (found, accepted);
        error
    }

    /// A name that is not known here, or that is missing.
    fn unknown(&self) -> Option<InputError> {
        let quoted: Vec<String> = self.message.split('`').skip(1).step_by(2).map(str::to_string).collect();
        let (mut name, mut rest) =
            (quoted.first().cloned().unwrap_or_default(), quoted.get(1..).unwrap_or_default().to_vec());
        if self.message.starts_with("missing field") {
            let sentence = format!("the key `{name}` is missing");
            return Some(self.error(InputErrorKind::MissingKey, sentence, String::new(), vec![name]));
        }
        let (kind, sentence) = if let Some(keys) = self.message.strip_prefix("unexpected keys in table: ") {
            let (unknown, known) = keys.split_once(", available keys: ")?;
            name = unknown.split(", ").next().unwrap_or_default().to_string();
            rest = known.split(", ").map(str::to_string).collect();
            (InputErrorKind::UnknownKey, format!("there is no key `{name}` here"))
        } else if name == DATE {
            let sentence = "a date is not accepted here".to_string();
            return Some(self.error(InputErrorKind::WrongType, sentence, self.found(), vec!["a table".into()]));
        } else if self.message.starts_with("unknown field") {
            (InputErrorKind::UnknownKey, format!("there is no key `{name}` here"))
        } else if self.message.starts_with("unknown variant") {
            (InputErrorKind::UnknownVariant, format!("unknown choice `{name}`"))
        } else {
            return None;
        };
        if let Some((_, now, change)) = FORMER.iter().find(|(former, ..)| self.key.ends_with(former)) {
            let error = self.error(kind, (*change).to_string(), name, rest);
            return Some(InputError { did_you_mean: Some((*now).to_string()), ..error });
        }
        let near = nearest(&name, &rest);
        Some(InputError { did_you_mean: near, ..self.error(kind, sentence, name, rest) })
    }

    /// A choice whose kind is not said, or said more than once.
    fn kinds(&self, table: &Table<'_>) -> Option<InputError> {
        if self.message == "wanted string or table" {
            let sentence = "not one of the choices".to_string();
            let accepted = vec!["the name of one, or a table that says which and with what values".to_string()];
            return Some(self.error(InputErrorKind::WrongType, sentence, self.found(), accepted));
        }
        if !self.message.starts_with("wanted exactly 1 element") {
            return None;
        }
        let given = keys_at(table, &self.key);
        if self.key == "device"
            && let Some(unknown) = given.iter().find(|model| !Device::MODELS.contains(&model.as_str()))
        {
            let known: Vec<String> = Device::MODELS.map(str::to_string).to_vec();
            let span = span_of(table, &["device", unknown]);
            let sentence = format!("there is no model `{unknown}`");
            let mut error =
                self.source.error(InputErrorKind::UnknownVariant, span, &format!("device.{unknown}"), sentence);
            error.did_you_mean = nearest(unknown, &known);
            (error.found, error.accepted) = (unknown.clone(), known);
            return Some(error);
        }
        let sentence = match given.len() {
            0 => "nothing says here what it is",
            _ => "only one of these may be given",
        };
        let accepted = vec!["exactly one".to_string()];
        Some(self.error(InputErrorKind::Conflict, sentence.into(), given.join(", "), accepted))
    }

    /// Error of a choice without its values.
    fn without_values(&self) -> Option<InputError> {
        let wrong = self.message.strip_prefix("invalid type: ")?;
        let (what, of) =
            [", expected struct variant", ", expected newtype variant"].iter().find_map(|of| wrong.split_once(of))?;
        let found = self.found();
        let (key, last) = match self.key.rsplit_once('.') {
            Some((key, last)) if what != "unit variant" => (key, last),
            _ => (self.key.as_str(), found.trim_matches(['"', '\''])),
        };
        let named = variant(of);
        let name = named.as_deref().unwrap_or(last);
        let key =
            if name == last { format!("{} = ", key.rsplit('.').next().unwrap_or_default()) } else { String::new() };
        let accepted = WITH_VALUES.iter().filter(|(of, _)| *of == name).map(|(_, form)| format!("{key}{form}"));
        let sentence = format!("`{name}` needs values beside its name");
        Some(self.error(InputErrorKind::WrongType, sentence, found.clone(), accepted.collect()))
    }

    /// A value of the wrong type, or one that its type refuses.
    fn value(&self) -> InputError {
        let (wrong, accepted) = self.message.split_once(", expected ").unwrap_or((self.message, ""));
        let accepted = if accepted.is_empty() { vec![] } else { vec![in_words(accepted)] };
        let (kind, sentence) = if wrong.ends_with(" as i128") {
            (InputErrorKind::BadValue, "the number is out of range".to_string())
        } else if let Some(what) = wrong.strip_prefix("invalid type: ") {
            let what = match what {
                "map" => "a table".into(),
                "sequence" => "a list".into(),
                what => what.replacen("floating point", "number", 1),
            };
            (InputErrorKind::WrongType, format!("{what} is not accepted here"))
        } else if let Some(what) = wrong.strip_prefix("invalid value: ") {
            (InputErrorKind::BadValue, format!("{what} is not accepted here"))
        } else {
            (InputErrorKind::BadValue, wrong.to_string())
        };
        self.error(kind, sentence, self.found(), accepted)
    }

    fn found(&self) -> String {
        self.source.text_at(self.span.clone())
    }
}

/// Return serde's expectation in words of TOML.
fn in_words(expected: &str) -> String {
    let whole = |most: u64| format!("a whole number without a sign, up to {most}");
    match expected {
        "u8" => whole(u8::MAX.into()),
        "u16" => whole(u16::MAX.into()),
        "u32" => whole(u32::MAX.into()),
        "u64" | "usize" => whole(u64::MAX),
        "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        "a map" => "a table".into(),
        of if of.starts_with("struct ") => "a table".into(),
        of => of.into(),
    }
}

/// The name in a study of ` Type::Variant`, perhaps with what follows it.
fn variant(of: &str) -> Option<String> {
    let (_, name) = of.split_once("::")?;
    let mut word = String::new();
    for letter in name.split(' ').next()?.chars() {
        if letter.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(letter.to_lowercase());
    }
    Some(word)
}

/// The keys of the table under a dotted path.
fn keys_at(table: &Table<'_>, path: &str) -> Vec<String> {
    let of = path.split('.').try_fold(table, |table, name| match table.get(name).map(Spanned::get_ref) {
        Some(DeValue::Table(inner)) => Some(inner),
        _ => None,
    });
    of.map_or(vec![], |table| table.keys().map(|key| key.get_ref().to_string()).collect())
}

/// The dotted path of the smallest key or value that covers a span.
fn path_at(table: &Table<'_>, span: &Range<usize>) -> String {
    fn visit(table: &Table<'_>, span: &Range<usize>, path: &mut Vec<String>, best: &mut Option<(usize, String)>) {
        for (key, value) in table {
            path.push(key.get_ref().to_string());
            for place in [key.span(), value.span()] {
                let covers = place.start <= span.start && span.end <= place.end;
                if covers && best.as_ref().is_none_or(|(length, _)| place.len() <= *length) {
                    *best = Some((place.len(), path.join(".")));
                }
            }
            if let DeValue::Table(inner) = value.get_ref() {
                visit(inner, span, path, best);
            }
            path.pop();
        }
    }
    let mut best = None;
    visit(table, span, &mut Vec::new(), &mut best);
    best.map(|(_, path)| path).unwrap_or_default()
}
