//! sysbench's `oltp_*` transactions: its tables, its statements in its order, its choice of keys.

use super::keys::{Keys, Zipf, digits};
use super::relation::{Bounds, By, Catalogue, Kind, Limit, Lookup, Read, Set, Shape, Statement, Table, Take, column};
use super::spec::{Oltp, OltpMix, Popularity};
use super::transaction::{Outcome, Place, Shared, Step, Transaction};
use super::{Chunk, Values, parts};
use std::sync::Arc;
use tameshi_base::Random;

/// Rows of a part of the data set.
const ROWS: u64 = 10_000;
/// Statement shapes of a table: [`Question`] in its order.
const SHAPES: u16 = 10;

/// Statement on a table; the discriminant is the shape's number within the table's shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
enum Question {
    Point,
    Range,
    Sum,
    Ordered,
    Distinct,
    UpdateIndex,
    UpdateOther,
    Delete,
    Insert,
    InsertNumbered,
}

/// sysbench's transactions on a data set.
#[derive(Clone, Debug)]
pub struct Program {
    pub(super) catalogue: Catalogue,
    spec: Oltp,
    keys: Keys,
    data_seed: u64,
    script: Vec<(Question, u32)>,
}

impl Program {
    pub(super) fn new(spec: &Oltp, data_seed: u64) -> Self {
        let tables: Vec<Table> = (1..=spec.tables).map(|number| table(number, spec)).collect();
        let shapes = (0..tables.len()).flat_map(|table| shapes(&tables[table], table)).collect();
        let catalogue = Catalogue { tables, shapes, transactions: vec!["oltp"] };
        let keys = match spec.popularity {
            Popularity::Special => Keys::Special {
                draws: spec.rand_spec_iter,
                middle: f64::from(spec.rand_spec_pct) / 100.0,
                share: f64::from(spec.rand_spec_res) / 100.0,
            },
            Popularity::Uniform => Keys::Uniform,
            Popularity::Gaussian => Keys::Gaussian { draws: spec.rand_spec_iter },
            Popularity::Pareto => Keys::pareto(spec.rand_pareto_h),
            Popularity::Zipfian => Keys::Zipfian(Zipf::new(spec.rand_zipfian_exp)),
        };
        Self { catalogue, keys, data_seed, script: script(spec), spec: spec.clone() }
    }

    pub(super) fn chunks(&self) -> Vec<Chunk> {
        (0..self.catalogue.tables.len()).flat_map(|table| parts(table, self.spec.loaded_rows(), ROWS)).collect()
    }

    pub(super) fn populate(&self, chunk: Chunk, row: &mut dyn FnMut(&Values)) {
        let mut random = Random::named(self.data_seed, &format!("oltp/load/{}/{}", chunk.table, chunk.part));
        let mut values = Values::default();
        let first = chunk.part * ROWS + 1;
        for id in first..first + chunk.rows {
            let k = self.keys.draw(&mut random, self.spec.rows);
            values.clear();
            values.int(id as i64).int(k as i64);
            values.write(|text| groups(&mut random, 10, text)).write(|text| groups(&mut random, 5, text));
            row(&values);
        }
    }

    /// Return whether statements run in a transaction.
    fn in_transaction(&self) -> bool {
        let mixed = matches!(self.spec.mix, OltpMix::ReadWrite | OltpMix::ReadOnly | OltpMix::WriteOnly);
        mixed && !self.spec.skip_trx
    }
}

/// A number of four bytes for each counted one: none comes twice, and neighbours lie far apart
/// (each step of the mixing can be undone).
fn unlike(counted: u32) -> i64 {
    let mut bits = counted.wrapping_add(0x9E37_79B9);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85EB_CA6B);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xC2B2_AE35);
    i64::from((bits ^ (bits >> 16)).cast_signed())
}

/// Groups of eleven digits with dashes between them.
fn groups(random: &mut Random, count: u32, text: &mut String) {
    for group in 0..count {
        if group > 0 {
            text.push('-');
        }
        digits(random, 11, text);
    }
}

fn table(number: u32, spec: &Oltp) -> Table {
    let columns = vec![
        column("id", Kind::Int),
        column("k", Kind::Int),
        column("c", Kind::Char(120)),
        column("pad", Kind::Char(60)),
    ];
    let primary: &[&str] = if spec.secondary { &[] } else { &["id"] };
    let mut table = Table::new(format!("sbtest{number}"), columns, primary, spec.loaded_rows());
    if spec.secondary {
        table = table.with_index(format!("xid_{number}"), &["id"]);
    }
    if spec.create_secondary {
        table = table.with_index(format!("k_{number}"), &["k"]);
    }
    Table { auto_increment: spec.auto_inc, storage_engine: spec.mysql_storage_engine.clone(), ..table }
}

fn shapes(description: &Table, table: usize) -> Vec<Shape> {
    let [id, k, c, pad] = ["id", "k", "c", "pad"].map(|name| description.column(name));
    let range = |take, order| {
        let bounds = Some(Bounds::Between(id));
        Shape::Read(Read { table, equal: vec![], bounds, below: None, take, order, limit: Limit::None, lock: false })
    };
    let by_c = vec![By { column: c, descending: false }];
    let point = if description.primary.is_empty() {
        let (take, limit) = (Take::Columns(vec![c]), Limit::None);
        Shape::Read(Read { table, equal: vec![id], bounds: None, below: None, take, order: vec![], limit, lock: false })
    } else {
        Shape::Get { lookups: vec![Lookup { table, columns: vec![c] }], lock: false }
    };
    let update = |set| Shape::Update { table, set: vec![set], equal: vec![id] };
    vec![
        point,
        range(Take::Columns(vec![c]), vec![]),
        range(Take::Sum(k), vec![]),
        range(Take::Columns(vec![c]), by_c.clone()),
        range(Take::Distinct(c), by_c),
        update(Set::AddFixed(k, 1)),
        update(Set::To(c)),
        Shape::Delete { table, equal: vec![id] },
        Shape::Insert { table, columns: vec![id, k, c, pad] },
        Shape::Insert { table, columns: vec![k, c, pad] },
    ]
}

/// The questions of a transaction in order, each with how often it is asked of one table.
impl Oltp {
    /// Return whether no statement is left of a transaction.
    pub fn asks_nothing(&self) -> bool {
        script(self).is_empty()
    }
}

fn script(spec: &Oltp) -> Vec<(Question, u32)> {
    let ranges = |count| if spec.range_selects { count } else { 0 };
    let reads = [
        (Question::Point, spec.point_selects),
        (Question::Range, ranges(spec.simple_ranges)),
        (Question::Sum, ranges(spec.sum_ranges)),
        (Question::Ordered, ranges(spec.order_ranges)),
        (Question::Distinct, ranges(spec.distinct_ranges)),
    ];
    let writes = [
        (Question::UpdateIndex, spec.index_updates),
        (Question::UpdateOther, spec.non_index_updates),
        (Question::Delete, spec.delete_inserts),
    ];
    let questions: Vec<(Question, u32)> = match spec.mix {
        OltpMix::ReadWrite => reads.into_iter().chain(writes).collect(),
        OltpMix::ReadOnly => reads.into(),
        OltpMix::WriteOnly => writes.into(),
        OltpMix::PointSelect => vec![(Question::Point, 1)],
        OltpMix::UpdateIndex => vec![(Question::UpdateIndex, spec.index_updates)],
        OltpMix::UpdateNonIndex => vec![(Question::UpdateOther, spec.non_index_updates)],
        OltpMix::Insert if spec.auto_inc => vec![(Question::InsertNumbered, 1)],
        OltpMix::Insert => vec![(Question::Insert, 1)],
        OltpMix::Delete => vec![(Question::Delete, 1)],
    };
    questions.into_iter().filter(|(_, times)| *times > 0).collect()
}

/// Stage of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    First,
    /// At a statement of the script, with its number of repetitions so far.
    Asking {
        question: usize,
        times: u32,
    },
    Committed,
}

/// A thread of sysbench.
#[derive(Clone, Debug)]
pub struct Client {
    program: Arc<Program>,
    random: Random,
    /// As the randomness stood when the transaction began: a second try gets the same input.
    start: Random,
    stage: Stage,
    table: u64,
    /// The key of a delete whose insert is to come.
    deleted: Option<u64>,
    /// Numbers for rows, where the clients give them.
    shared: Arc<Shared>,
    number: i64,
}

impl Client {
    pub(super) fn new(program: Arc<Program>, place: &Place) -> Self {
        let random = place.random("oltp");
        let shared = Arc::clone(&place.shared);
        Self { program, start: random.clone(), random, stage: Stage::First, table: 0, deleted: None, shared, number: 0 }
    }

    pub(super) fn begin(&mut self) -> Transaction {
        if self.program.spec.loaded_rows() == 0 {
            self.number = unlike(self.shared.next_key() as u32);
        }
        self.start = self.random.clone();
        self.stage = Stage::First;
        Transaction::default()
    }

    pub(super) fn again(&mut self) {
        self.random = self.start.clone();
        self.stage = Stage::First;
        self.deleted = None;
    }

    pub(super) fn next(&mut self, statement: &mut Statement) -> Step {
        let program = Arc::clone(&self.program);
        match self.stage {
            Stage::First => {
                self.stage = Stage::Asking { question: 0, times: 0 };
                if program.in_transaction() {
                    return Step::Begin { writes: program.spec.mix != OltpMix::ReadOnly };
                }
                self.next(statement)
            }
            Stage::Asking { question, times } => {
                if let Some(id) = self.deleted.take() {
                    self.insert(id, statement);
                    return Step::Run;
                }
                let Some(&(asked, often)) = program.script.get(question) else {
                    self.stage = Stage::Committed;
                    return if program.in_transaction() { Step::Commit } else { Step::Done(Outcome::Committed) };
                };
                if times == 0 {
                    self.table = self.random.below(u64::from(program.spec.tables));
                }
                let done = times + 1 == often;
                self.stage =
                    Stage::Asking { question: question + usize::from(done), times: if done { 0 } else { times + 1 } };
                self.ask(asked, statement);
                Step::Run
            }
            Stage::Committed => Step::Done(Outcome::Committed),
        }
    }

    fn id(&mut self) -> i64 {
        self.program.keys.draw(&mut self.random, self.program.spec.rows) as i64
    }

    fn ask(&mut self, question: Question, statement: &mut Statement) {
        let id = self.id();
        let range = self.program.spec.range_size as i64;
        let row = statement.of(self.table as u16 * SHAPES + question as u16);
        match question {
            Question::Point | Question::UpdateIndex => row.int(id),
            Question::Range | Question::Sum | Question::Ordered | Question::Distinct => row.int(id).int(id + range - 1),
            Question::UpdateOther => row.write(|text| groups(&mut self.random, 10, text)).int(id),
            Question::Delete => {
                let followed = self.program.spec.mix != OltpMix::Delete;
                self.deleted = followed.then_some(id as u64);
                row.int(id)
            }
            Question::Insert | Question::InsertNumbered => {
                let row = if question == Question::Insert { row.int(self.number) } else { row };
                let row = row.int(id).write(|text| groups(&mut self.random, 10, text));
                row.write(|text| groups(&mut self.random, 5, text))
            }
        };
    }

    /// The insert that follows a delete.
    fn insert(&mut self, id: u64, statement: &mut Statement) {
        let k = self.id();
        let row = statement.of(self.table as u16 * SHAPES + Question::Insert as u16).int(id as i64).int(k);
        row.write(|text| groups(&mut self.random, 10, text)).write(|text| groups(&mut self.random, 5, text));
    }
}
