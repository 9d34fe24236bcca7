//! Clients' side of the ledger: commits that were acknowledged, and commits without an answer.
//!
//! One file per client, appended: `run N`, then `a FROM TO` (acknowledged, both included), `u N`
//! (commit sent, no answer or one that leaves its outcome open), `e N` (closed by its client after
//! number N). Numbers that occur nowhere were rolled back or never sent.

use crate::failure::OltpError;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Journal of one client.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    open: Option<(u64, u64)>,
    text: String,
}

fn problem(path: &Path, why: impl ToString) -> OltpError {
    OltpError::Journal { file: path.display().to_string(), why: why.to_string() }
}

fn name(folder: &Path, client: u32) -> PathBuf {
    folder.join(format!("client-{client}.journal"))
}

impl Journal {
    /// Begin the journal of a client in run number `run`.
    ///
    /// # Errors
    /// The file can't be created.
    pub fn begin(folder: &Path, client: u32, run: i64) -> Result<Self, OltpError> {
        let path = name(folder, client);
        let file = OpenOptions::new().append(true).create(true).open(&path).map_err(|error| problem(&path, error))?;
        let mut journal = Self { file, path, open: None, text: format!("run {run}\n") };
        journal.write()?;
        Ok(journal)
    }

    /// Note that commit `number` was acknowledged.
    pub fn acknowledged(&mut self, number: u64) {
        match &mut self.open {
            Some((_, to)) if *to + 1 == number => *to = number,
            _ => {
                self.close_range();
                self.open = Some((number, number));
            }
        }
    }

    /// Note that commit `number` was sent and its outcome is unknown.
    pub fn ambiguous(&mut self, number: u64) {
        self.close_range();
        self.text += &format!("u {number}\n");
    }

    fn close_range(&mut self) {
        if let Some((from, to)) = self.open.take() {
            self.text += &format!("a {from} {to}\n");
        }
    }

    /// Write the buffered entries to the file.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn write(&mut self) -> Result<(), OltpError> {
        self.close_range();
        let written = self.file.write_all(self.text.as_bytes());
        self.text.clear();
        written.map_err(|error| problem(&self.path, error))
    }

    /// End the journal after the last number that was sent.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn end(mut self, last: u64) -> Result<(), OltpError> {
        self.close_range();
        self.text += &format!("e {last}\n");
        self.write()
    }
}

/// Journal of one client in one run, read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientRecord {
    pub(crate) run: i64,
    pub(crate) client: u32,
    pub(crate) acknowledged: Vec<(u64, u64)>,
    pub(crate) ambiguous: BTreeSet<u64>,
    /// True if the client closed it. Otherwise the database may hold later numbers.
    pub(crate) ended: bool,
}

impl ClientRecord {
    pub(crate) fn last_known(&self) -> u64 {
        let acknowledged = self.acknowledged.iter().map(|(_, to)| *to).max().unwrap_or(0);
        acknowledged.max(self.ambiguous.last().copied().unwrap_or(0))
    }

    pub(crate) fn is_acknowledged(&self, number: u64) -> bool {
        let after = self.acknowledged.partition_point(|(from, _)| *from <= number);
        after > 0 && self.acknowledged[after - 1].1 >= number
    }
}

/// Read all journals of a folder; a last line torn by a kill is left out.
pub(crate) fn read(folder: &Path) -> Result<Vec<ClientRecord>, OltpError> {
    let mut accounts = Vec::new();
    let mut clients: Vec<(u32, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| problem(folder, error))? {
        let path = entry.map_err(|error| problem(folder, error))?.path();
        let number = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix("client-")?.strip_suffix(".journal")?.parse().ok());
        clients.extend(number.map(|number| (number, path)));
    }
    clients.sort();
    for (client, path) in clients {
        let text = fs::read_to_string(&path).map_err(|error| problem(&path, error))?;
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        accounts.extend(parse(whole, client).ok_or_else(|| problem(&path, "holds a line that is none of a journal"))?);
    }
    Ok(accounts)
}

fn parse(text: &str, client: u32) -> Option<Vec<ClientRecord>> {
    let mut accounts: Vec<ClientRecord> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["run", run] = words[..] {
            accounts.push(ClientRecord { run: run.parse().ok()?, client, ..ClientRecord::default() });
            continue;
        }
        let account = accounts.last_mut()?;
        match words[..] {
            ["a", from, to] => account.acknowledged.push((from.parse().ok()?, to.parse().ok()?)),
            ["u", number] => drop(account.ambiguous.insert(number.parse().ok()?)),
            ["e", _] => account.ended = true,
            _ => return None,
        }
    }
    Some(accounts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_reads_back_without_a_torn_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut journal = Journal::begin(folder.path(), 3, 77).expect("a journal");
        [1, 2, 3].into_iter().for_each(|number| journal.acknowledged(number));
        journal.ambiguous(4);
        journal.acknowledged(6);
        journal.write().expect("written");
        let mut file = OpenOptions::new().append(true).open(name(folder.path(), 3)).expect("the file");
        file.write_all(b"a 7 9").expect("half a line");
        let accounts = read(folder.path()).expect("readable");
        let [account] = &accounts[..] else { panic!("one client") };
        assert_eq!((account.run, account.client, account.ended), (77, 3, false));
        assert_eq!(account.acknowledged, [(1, 3), (6, 6)]);
        assert!(account.is_acknowledged(2) && account.is_acknowledged(6));
        assert!([0, 4, 5, 7].iter().all(|number| !account.is_acknowledged(*number)));
        assert_eq!(account.last_known(), 6);
    }

    #[test]
    fn file_that_is_no_journal_is_refused() {
        assert!(parse("a 1 2\n", 0).is_none(), "before a run");
        assert!(parse("run 1\nx\n", 0).is_none());
    }
}
