//! Tables, statements and values as data: SQL drivers turn them into text, a simulated engine into
//! pages.
//!
//! A program describes itself by a [`Catalogue`]: its tables, and the shape of every statement it
//! will ever send. A [`Statement`] is then a shape's number and its parameters. What shapes mean is
//! defined by [`super::Memory`].

/// Content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of four bytes.
    Int,
    /// A whole number of eight bytes.
    BigInt,
    /// An exact decimal. Its value here is a whole number of 10^-`scale`.
    Decimal {
        /// Digits in all.
        digits: u8,
        /// Decimal digits.
        scale: u8,
    },
    /// Characters of a fixed number, each one byte.
    Char(u16),
    /// Characters up to a number, each one byte.
    Text(u16),
    /// A date with its time of day; here whole seconds since 1970-01-01, without a zone.
    Time,
    /// A JSON document.
    Json,
    /// A whole number inside the JSON document of another column, computed by the database.
    JsonInt {
        /// The column that holds the document.
        of: &'static str,
        /// The key in the document's outermost object.
        key: &'static str,
    },
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, as in SQL.
    pub name: &'static str,
    /// Content.
    pub kind: Kind,
    /// True if it may be NULL.
    pub null: bool,
    /// Bytes of a mean value, without the engine's own overhead.
    pub mean_bytes: u32,
}

/// A secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Name, as in SQL.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<usize>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name, as in SQL.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key, in order; empty: the table has none.
    pub primary: Vec<usize>,
    /// Secondary indexes.
    pub indexes: Vec<Index>,
    /// Rows after loading.
    pub rows: u64,
    /// The database numbers rows that come without their [`Table::number_column`].
    pub auto_increment: bool,
    /// Storage engine on MariaDB and MySQL.
    pub storage_engine: String,
}

impl Table {
    /// A table of these columns, with a primary key.
    ///
    /// # Panics
    /// When the key names a column that is not there: a mistake in the program.
    pub fn new(name: impl Into<String>, columns: Vec<Column>, primary: &[&str], rows: u64) -> Self {
        let name = name.into();
        let mut table = Self {
            name,
            columns,
            primary: Vec::new(),
            indexes: Vec::new(),
            rows,
            auto_increment: false,
            storage_engine: "InnoDB".into(),
        };
        table.primary = table.columns(primary);
        table
    }

    /// The table with one more secondary index.
    pub fn with_index(mut self, name: impl Into<String>, columns: &[&str]) -> Self {
        self.indexes.push(Index { name: name.into(), columns: self.columns(columns) });
        self
    }

    /// The column that numbers rows: the primary key, or that of the first index where there is
    /// none.
    pub fn number_column(&self) -> Option<usize> {
        let columns = if self.primary.is_empty() { &self.indexes.first()?.columns } else { &self.primary };
        if let [only] = columns[..] { Some(only) } else { None }
    }

    /// The number of a column.
    ///
    /// # Panics
    /// When there is none of that name: a mistake in the program.
    pub fn column(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|column| column.name == name);
        found.unwrap_or_else(|| panic!("table {} has no column {name}", self.name))
    }

    /// The numbers of columns.
    pub fn columns(&self, names: &[&str]) -> Vec<usize> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// Columns that a loader writes: all but those that the database computes.
    pub fn written(&self) -> Vec<usize> {
        let is_written = |&column: &usize| !matches!(self.columns[column].kind, Kind::JsonInt { .. });
        (0..self.columns.len()).filter(is_written).collect()
    }

    /// Bytes of a mean row's values, without the engine's own overhead.
    pub fn mean_row_bytes(&self) -> u64 {
        self.columns.iter().map(|column| u64::from(column.mean_bytes)).sum()
    }
}

/// A column of a kind that has one length.
pub fn column(name: &'static str, kind: Kind) -> Column {
    let mean_bytes = match kind {
        Kind::Int => 4,
        Kind::BigInt | Kind::Time => 8,
        Kind::Decimal { digits, .. } => u32::from(digits).div_ceil(2),
        Kind::Char(length) => u32::from(length),
        Kind::Text(most) => u32::from(most),
        Kind::Json | Kind::JsonInt { .. } => 0,
    };
    Column { name, kind, null: false, mean_bytes }
}

/// A column of text or JSON with values of this mean length in bytes.
pub fn text(name: &'static str, kind: Kind, mean_bytes: u32) -> Column {
    Column { mean_bytes, ..column(name, kind) }
}

/// Return the column as nullable.
pub fn nullable(column: Column) -> Column {
    Column { null: true, ..column }
}

/// One row by its whole primary key, and the columns read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The table.
    pub table: usize,
    /// The columns that are read.
    pub columns: Vec<usize>,
}

/// Bounds on one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Two parameters, both included.
    Between(usize),
    /// One parameter: from there on.
    From(usize),
}

/// Result of a [`Shape::Read`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Take {
    /// These columns of each row.
    Columns(Vec<usize>),
    /// The number of rows.
    Count,
    /// The sum of a column; NULL without rows.
    Sum(usize),
    /// The values of a column, each once.
    Distinct(usize),
}

/// Direction and column of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct By {
    /// The column.
    pub column: usize,
    /// Largest first.
    pub descending: bool,
}

/// Upper bound on rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// All.
    None,
    /// At most this many.
    Fixed(u32),
    /// As many as the last parameter says.
    Parameter,
}

/// Rows of one table. Parameters in order: one for each of `equal`, those of `bounds`, that of
/// `below`, the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The table.
    pub table: usize,
    /// Columns that must equal a parameter.
    pub equal: Vec<usize>,
    /// Bounds on a further column.
    pub bounds: Option<Bounds>,
    /// A column that must lie below a parameter.
    pub below: Option<usize>,
    /// Result.
    pub take: Take,
    /// In which order.
    pub order: Vec<By>,
    /// Upper bound on rows.
    pub limit: Limit,
    /// Locks the rows for an update.
    pub lock: bool,
}

/// Number of rows of an inner table found by a column of the outer one, each counted once.
/// Parameters in order: the outer's `equal`, its two bounds, the inner's `inner_equal`, and the
/// upper bound of `below`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountJoined {
    /// The outer table.
    pub outer: usize,
    /// Columns of the outer table that must equal a parameter.
    pub equal: Vec<usize>,
    /// A column of the outer table between two parameters, both included.
    pub between: usize,
    /// The column of the outer table by which rows of the inner one are found.
    pub via: usize,
    /// The inner table.
    pub inner: usize,
    /// Columns of the inner table that must equal a parameter.
    pub inner_equal: Vec<usize>,
    /// The column of the inner table that equals `via`; its different values are counted.
    pub inner_via: usize,
    /// A column of the inner table that must lie below the last parameter.
    pub below: usize,
}

/// Change of a column by an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// To the parameter.
    To(usize),
    /// By the parameter.
    Add(usize),
    /// By this number, without a parameter.
    AddFixed(usize, i64),
}

/// The shape of a statement: all of it but its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One row of one table or of each of two, joined in one statement; parameters are their keys
    /// in order. No row where one of them is missing.
    Get {
        /// Lookups.
        lookups: Vec<Lookup>,
        /// Locks the rows for an update.
        lock: bool,
    },
    /// Rows of one table.
    Read(Read),
    /// A count over a join.
    CountJoined(CountJoined),
    /// A new row; a parameter for each column.
    Insert {
        /// The table.
        table: usize,
        /// The columns that are given.
        columns: Vec<usize>,
    },
    /// Changes rows; parameters are those of `set`, then those of `equal`.
    Update {
        /// The table.
        table: usize,
        /// Changes.
        set: Vec<Set>,
        /// Columns that must equal a parameter.
        equal: Vec<usize>,
    },
    /// Removes rows; parameters are those of `equal`.
    Delete {
        /// The table.
        table: usize,
        /// Columns that must equal a parameter.
        equal: Vec<usize>,
    },
}

impl Shape {
    /// Return whether it changes the database.
    pub fn writes(&self) -> bool {
        matches!(self, Self::Insert { .. } | Self::Update { .. } | Self::Delete { .. })
    }

    /// Return whether it returns rows.
    pub fn returns_rows(&self) -> bool {
        !self.writes()
    }

    /// The kinds of its parameters, in order.
    pub fn parameters(&self, tables: &[Table]) -> Vec<Kind> {
        let of = |table: usize, columns: &[usize]| -> Vec<Kind> {
            columns.iter().map(|&column| tables[table].columns[column].kind).collect()
        };
        match self {
            Self::Get { lookups, .. } => {
                lookups.iter().flat_map(|lookup| of(lookup.table, &tables[lookup.table].primary)).collect()
            }
            Self::Read(read) => {
                let mut kinds = of(read.table, &read.equal);
                match read.bounds {
                    Some(Bounds::Between(column)) => kinds.extend(of(read.table, &[column, column])),
                    Some(Bounds::From(column)) => kinds.extend(of(read.table, &[column])),
                    None => {}
                }
                kinds.extend(read.below.iter().flat_map(|&column| of(read.table, &[column])));
                kinds.extend((read.limit == Limit::Parameter).then_some(Kind::BigInt));
                kinds
            }
            Self::CountJoined(join) => {
                let mut kinds = of(join.outer, &join.equal);
                kinds.extend(of(join.outer, &[join.between, join.between]));
                kinds.extend(of(join.inner, &join.inner_equal));
                kinds.extend(of(join.inner, &[join.below]));
                kinds
            }
            Self::Insert { table, columns } => of(*table, columns),
            Self::Update { table, set, equal } => {
                let changed = set.iter().filter_map(|set| match *set {
                    Set::To(column) | Set::Add(column) => Some(tables[*table].columns[column].kind),
                    Set::AddFixed(..) => None,
                });
                changed.chain(of(*table, equal)).collect()
            }
            Self::Delete { table, equal } => of(*table, equal),
        }
    }

    /// The kinds of the columns it returns, in order.
    pub fn results(&self, tables: &[Table]) -> Vec<Kind> {
        let of = |table: usize, columns: &[usize]| -> Vec<Kind> {
            columns.iter().map(|&column| tables[table].columns[column].kind).collect()
        };
        match self {
            Self::Get { lookups, .. } => lookups.iter().flat_map(|lookup| of(lookup.table, &lookup.columns)).collect(),
            Self::Read(read) => match &read.take {
                Take::Columns(columns) => of(read.table, columns),
                Take::Count => vec![Kind::BigInt],
                Take::Sum(column) => match tables[read.table].columns[*column].kind {
                    Kind::Decimal { scale, .. } => vec![Kind::Decimal { digits: 30, scale }],
                    _ => vec![Kind::BigInt],
                },
                Take::Distinct(column) => of(read.table, &[*column]),
            },
            Self::CountJoined(_) => vec![Kind::BigInt],
            Self::Insert { .. } | Self::Update { .. } | Self::Delete { .. } => Vec::new(),
        }
    }
}

/// All tables and statement shapes of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalogue {
    /// Tables, in the order in which they are made.
    pub tables: Vec<Table>,
    /// Shapes by number.
    pub shapes: Vec<Shape>,
    /// Words of the kinds of transactions.
    pub transactions: Vec<&'static str>,
}

/// A value: NULL, a whole number (also decimals and times, see [`Kind`]), or characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A whole number.
    Int(i64),
    /// Characters.
    Text(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slot {
    Null,
    Int(i64),
    Text { begin: u32, end: u32 },
}

/// Values in a row; keeps its memory when it is emptied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values {
    slots: Vec<Slot>,
    text: String,
}

impl Values {
    /// Removes all values.
    #[inline]
    pub fn clear(&mut self) {
        self.slots.clear();
        self.text.clear();
    }

    /// Return the number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Return whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Append NULL.
    #[inline]
    pub fn null(&mut self) -> &mut Self {
        self.slots.push(Slot::Null);
        self
    }

    /// Appends a whole number.
    #[inline]
    pub fn int(&mut self, value: i64) -> &mut Self {
        self.slots.push(Slot::Int(value));
        self
    }

    /// Appends characters.
    #[inline]
    pub fn text(&mut self, value: &str) -> &mut Self {
        self.write(|text| text.push_str(value))
    }

    /// Appends the characters that `write` appends to the text it is given.
    #[inline]
    pub fn write(&mut self, write: impl FnOnce(&mut String)) -> &mut Self {
        let begin = self.text.len() as u32;
        write(&mut self.text);
        self.slots.push(Slot::Text { begin, end: self.text.len() as u32 });
        self
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: Value<'_>) -> &mut Self {
        match value {
            Value::Null => self.null(),
            Value::Int(value) => self.int(value),
            Value::Text(value) => self.text(value),
        }
    }

    /// The value at `index`.
    ///
    /// # Panics
    /// When there is none.
    #[inline]
    pub fn get(&self, index: usize) -> Value<'_> {
        match self.slots[index] {
            Slot::Null => Value::Null,
            Slot::Int(value) => Value::Int(value),
            Slot::Text { begin, end } => Value::Text(&self.text[begin as usize..end as usize]),
        }
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = Value<'_>> {
        (0..self.len()).map(|index| self.get(index))
    }
}

/// A statement: its shape and its parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statement {
    /// The shape's number in the catalogue.
    pub shape: u16,
    /// Its parameters.
    pub parameters: Values,
}

impl Statement {
    /// Empties it for the shape of that number; parameters are appended to what is returned.
    #[inline]
    pub fn of(&mut self, shape: u16) -> &mut Values {
        self.shape = shape;
        self.parameters.clear();
        &mut self.parameters
    }
}

/// Result of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows changed.
    pub affected: u64,
    /// Columns of each row.
    pub width: usize,
    /// The values of all rows.
    pub values: Values,
}

impl Reply {
    /// Empties it for rows of `width` columns.
    #[inline]
    pub fn restart(&mut self, width: usize) {
        (self.affected, self.width) = (0, width);
        self.values.clear();
    }

    /// Return the number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// A value.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> Value<'_> {
        self.values.get(row * self.width + column)
    }

    /// Return a whole number; NULL counts as zero.
    #[inline]
    pub fn int(&self, row: usize, column: usize) -> i64 {
        match self.get(row, column) {
            Value::Int(value) => value,
            Value::Null | Value::Text(_) => 0,
        }
    }

    /// Return characters; NULL counts as empty.
    #[inline]
    pub fn text(&self, row: usize, column: usize) -> &str {
        match self.get(row, column) {
            Value::Text(text) => text,
            Value::Null | Value::Int(_) => "",
        }
    }
}
