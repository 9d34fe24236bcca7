//! Choice of the I/O backend.

use crate::error::BlockError;
use crate::io::uring;

/// Interface that carries requests to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// io_uring if the system allows it, else plain calls; the record names the choice and its
    /// reason.
    #[default]
    Auto,
    /// io_uring or an error. The kernel decides how a file in memory is served.
    Uring,
    /// Plain calls, from one thread per outstanding request.
    Portable,
    /// No I/O: every request completes at once. Measures the generator's own cost.
    Null,
}

/// Backend that was found to work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectedBackend {
    /// io_uring; `in_place`: a file in memory is read and written at submission.
    Uring {
        in_place: bool,
    },
    Portable,
    Null,
}

impl SelectedBackend {
    /// Name in records.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Uring { .. } => "io_uring",
            Self::Portable => "portable",
            Self::Null => "null",
        }
    }
}

impl Backend {
    /// Names of all backends.
    pub const WORDS: [(&'static str, Self); 4] =
        [("auto", Self::Auto), ("io_uring", Self::Uring), ("portable", Self::Portable), ("null", Self::Null)];

    /// Return the backend named `word`.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(name, _)| *name == word).map(|&(_, backend)| backend)
    }

    /// Choose a backend that works here; with a remark if it is not the first choice.
    pub(crate) fn choose(self) -> Result<(SelectedBackend, Option<String>), BlockError> {
        match self {
            Self::Portable => Ok((SelectedBackend::Portable, None)),
            Self::Null => Ok((SelectedBackend::Null, None)),
            Self::Uring => uring::probe()
                .map(|()| (SelectedBackend::Uring { in_place: false }, None))
                .map_err(|error| BlockError::system("setting up io_uring", error)),
            Self::Auto => Ok(match uring::probe() {
                Ok(()) => (SelectedBackend::Uring { in_place: true }, None),
                Err(error) => (SelectedBackend::Portable, Some(format!("io_uring is not available: {error}"))),
            }),
        }
    }
}
