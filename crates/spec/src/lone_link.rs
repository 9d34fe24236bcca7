//! One link of a file, without the rest of a study: for hosts that are made by hand.

use crate::lone_storage::only_storages;
use crate::profile::catalog::Profiles;
use crate::resolve::arrays::write_out;
use crate::resolve::stacks::Place;
use crate::run::node::Link;
use crate::study::Study;
use crate::toml::document::Source;
use crate::validate::values;
use tameshi_base::InputError;

/// Resolve a link that the file defines, or a link profile of this name.
///
/// The file is a study, or holds only storages and links. Axes and `quick` are not applied.
///
/// # Errors
/// At the first error in the file's links, or in a profile that they name.
pub fn lone_link<'t>(source: Source<'t>, name: &str, profiles: &'t Profiles) -> Result<Link, InputError> {
    let mut document = only_storages(source.parse()?);
    write_out(source, &mut document, profiles)?;
    let study: Study = source.typed(&document)?;
    values::study(source, &document, &study)?;
    let (links, storages) = (&study.link, &study.storage);
    Place { source, table: &document, links, storages, profiles, storage: "" }.link(&[], name)
}
