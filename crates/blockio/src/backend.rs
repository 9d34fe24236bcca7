//! How requests reach the system: the choice.

use crate::error::BlockError;
use crate::uring;

/// How requests reach the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// io_uring where the system allows it, else plain calls; the record says which and why.
    #[default]
    Auto,
    /// io_uring or an error; also a file in memory is served as the kernel will.
    Uring,
    /// Plain calls, from a thread per outstanding request.
    Portable,
    /// Nothing is read or written, every request completes at once: the cost of the generator itself.
    Null,
}

/// A backend that was found to work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// io_uring, and whether a file in memory is read and written where a request is handed over.
    Uring {
        in_place: bool,
    },
    Portable,
    Null,
}

impl Chosen {
    /// The word in records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Uring { .. } => "io_uring",
            Self::Portable => "portable",
            Self::Null => "null",
        }
    }
}

impl Backend {
    /// Every word that names a backend, with the backend.
    pub const WORDS: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("io_uring", Self::Uring), ("portable", Self::Portable), ("null", Self::Null)];

    /// The backend of that name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|&(_, backend)| backend)
    }

    /// Chooses what works here; with a remark when that is not the first choice.
    pub(crate) fn choose(self) -> Result<(Chosen, Option<String>), BlockError> {
        match self {
            Self::Portable => Ok((Chosen::Portable, None)),
            Self::Null => Ok((Chosen::Null, None)),
            Self::Uring => uring::probe()
                .map(|()| (Chosen::Uring { in_place: false }, None))
                .map_err(|error| BlockError::system("setting up io_uring", error)),
            Self::Auto => Ok(match uring::probe() {
                Ok(()) => (Chosen::Uring { in_place: true }, None),
                Err(error) => (Chosen::Portable, Some(format!("io_uring is not available: {error}"))),
            }),
        }
    }
}
