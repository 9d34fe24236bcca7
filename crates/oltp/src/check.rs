//! Checks after a run: the consistency conditions of clause 3.3.2, and the ledger of acknowledged
//! commits.

use crate::conditions;
use crate::failure::OltpError;
use crate::journal::{self, ClientRecord};
use crate::plan::{LEDGER, Plan};
use crate::session::Session;
use crate::spec::OltpSpec;
use serde::Serialize;
use std::collections::BTreeMap;
use tameshi_workload::program::Program;

/// Most commits that a report lists by number.
const LISTED: usize = 10;

/// Consistency condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Number in clause 3.3.2.
    pub number: u32,
    /// Rows or groups of rows that violate it.
    pub broken: u64,
}

/// Ledger compared with the clients' journals.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LedgerState {
    /// Acknowledged commits.
    pub acknowledged: u64,
    /// Commits sent whose outcome no answer tells.
    pub ambiguous: u64,
    /// Unanswered commits that the database holds.
    pub ambiguous_present: u64,
    /// Number of acknowledged commits missing from the database.
    pub lost: u64,
    /// First missing commits: `[run, client, number]`.
    pub lost_first: Vec<(i64, u32, u64)>,
    /// Commits present more than once.
    pub twice: u64,
    /// Commits present that were rolled back, failed, or never sent.
    pub phantom: u64,
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The twelve conditions, if the program is TPC-C.
    pub conditions: Vec<Condition>,
    /// State of the ledger, if there is one.
    pub ledger: Option<LedgerState>,
    /// True if no condition is violated and no commit is lost, duplicated or unexplained.
    pub holds: bool,
}

/// Check a database at rest; `fresh`: nothing ran since it was loaded.
///
/// # Errors
/// The database can't be queried, or a journal can't be read.
pub fn check(spec: &OltpSpec, fresh: bool) -> Result<Checked, OltpError> {
    check_program(spec, &spec.program(), fresh)
}

/// Like [`check`], with a given program.
///
/// # Errors
/// As for [`check`].
pub fn check_program(spec: &OltpSpec, program: &Program, fresh: bool) -> Result<Checked, OltpError> {
    let plan = Plan::new(spec, program);
    let mut session =
        Session::own(&spec.target, &plan, &spec.own_session).map_err(OltpError::database("connecting"))?;
    let mut conditions = Vec::new();
    if let Program::Tpcc(tpcc) = program {
        let delivered = tpcc.sizes.customers - tpcc.sizes.undelivered();
        for (number, queries) in conditions::queries(delivered, fresh) {
            let mut broken = 0;
            for query in queries {
                broken += count(&mut session, &query)?;
            }
            conditions.push(Condition { number, broken });
        }
    }
    let ledger = match &spec.ledger {
        Some(ledger) => Some(compare_ledger(&mut session, journal::read(&ledger.journal)?)?),
        None => None,
    };
    let right = ledger.as_ref().is_none_or(|ledger| ledger.lost == 0 && ledger.twice == 0 && ledger.phantom == 0);
    let holds = right && conditions.iter().all(|condition| condition.broken == 0);
    Ok(Checked { conditions, ledger, holds })
}

fn count(session: &mut Session, query: &str) -> Result<u64, OltpError> {
    let rows = session.query(query).map_err(OltpError::database("checking consistency"))?;
    Ok(rows.first().and_then(|row| row.first()?.as_ref()?.parse().ok()).unwrap_or(0))
}

/// Compare the ledger with the clients' journals.
fn compare_ledger(session: &mut Session, accounts: Vec<ClientRecord>) -> Result<LedgerState, OltpError> {
    let mut state = LedgerState::default();
    for account in accounts {
        let query = format!(
            "SELECT number, COUNT(*) FROM {LEDGER} WHERE run = {} AND client = {} GROUP BY number",
            account.run, account.client
        );
        let rows = session.query(&query).map_err(OltpError::database("reading the ledger"))?;
        let number = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let present: BTreeMap<u64, u64> = rows.iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
        compare(&account, &present, &mut state);
    }
    Ok(state)
}

fn compare(account: &ClientRecord, present: &BTreeMap<u64, u64>, state: &mut LedgerState) {
    for number in account.acknowledged.iter().flat_map(|(from, to)| *from..=*to) {
        state.acknowledged += 1;
        if !present.contains_key(&number) {
            state.lost += 1;
            if state.lost_first.len() < LISTED {
                state.lost_first.push((account.run, account.client, number));
            }
        }
    }
    state.ambiguous += account.ambiguous.len() as u64;
    for (number, times) in present {
        state.twice += u64::from(*times > 1);
        let (acknowledged, ambiguous) = (account.is_acknowledged(*number), account.ambiguous.contains(number));
        state.ambiguous_present += u64::from(ambiguous);
        // A killed client may have sent more than its journal holds.
        let unknown = !account.ended && *number > account.last_known();
        state.phantom += u64::from(!acknowledged && !ambiguous && !unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(ended: bool) -> ClientRecord {
        ClientRecord { run: 1, client: 0, acknowledged: vec![(1, 3), (6, 8)], ambiguous: [4, 9].into(), ended }
    }

    fn compared(account: &ClientRecord, present: &[(u64, u64)]) -> LedgerState {
        let mut state = LedgerState::default();
        compare(account, &present.iter().copied().collect(), &mut state);
        state
    }

    #[test]
    fn lost_doubled_and_unexplained_commits_are_found() {
        let right = compared(&account(true), &[(1, 1), (2, 1), (3, 1), (4, 1), (6, 1), (7, 1), (8, 1)]);
        assert_eq!((right.acknowledged, right.ambiguous, right.ambiguous_present), (6, 2, 1));
        assert_eq!((right.lost, right.twice, right.phantom), (0, 0, 0));
        let wrong = compared(&account(true), &[(1, 1), (2, 2), (5, 1), (6, 1), (8, 1), (12, 1)]);
        assert_eq!((wrong.lost, wrong.twice, wrong.phantom), (2, 1, 2));
        assert_eq!(wrong.lost_first, [(1, 0, 3), (1, 0, 7)]);
    }

    #[test]
    fn commits_missing_from_a_killed_journal_are_no_phantoms() {
        let state = compared(&account(false), &[(1, 1), (2, 1), (3, 1), (6, 1), (7, 1), (8, 1), (10, 1), (5, 1)]);
        assert_eq!((state.lost, state.phantom), (0, 1), "5 lies before what it knew, 10 behind");
    }
}
