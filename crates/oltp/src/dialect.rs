//! SQL text of shapes and tables, in the dialect of each product.

use crate::spec::Target;
use std::fmt::Write;
use tameshi_workload::program::relation::{Bounds, Column, CountJoined, Index, Limit, Read, Set, Take};
use tameshi_workload::program::{Kind, Shape, Table};

/// SQL dialect of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite: decimals are integers of the smallest unit, times are seconds.
    Sqlite,
    /// MariaDB and MySQL.
    Mysql,
    /// PostgreSQL.
    Postgresql,
}

/// SQL text with parameters numbered in their order.
struct Sql {
    text: String,
    numbered: bool,
    next: u32,
}

impl Sql {
    fn add(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    fn parameter(&mut self) -> &mut Self {
        self.next += 1;
        if self.numbered {
            write!(self.text, "${}", self.next).expect("a string takes text")
        } else {
            self.text.push('?')
        }
        self
    }

    /// Append ` WHERE ` before the first condition, ` AND ` before others.
    fn condition(&mut self, first: &mut bool) -> &mut Self {
        let word = if std::mem::take(first) { " WHERE " } else { " AND " };
        self.add(word)
    }
}

/// Name from a study, reduced to characters that can't end it.
fn word(name: &str) -> String {
    name.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect()
}

fn names(table: &Table, columns: &[usize]) -> String {
    columns.iter().map(|&column| table.columns[column].name).collect::<Vec<_>>().join(", ")
}

impl Dialect {
    /// Dialect of a target.
    pub fn of(target: &Target) -> Self {
        match target {
            Target::Sqlite { .. } => Self::Sqlite,
            Target::Mariadb(_) | Target::Mysql(_) => Self::Mysql,
            Target::Postgresql(_) => Self::Postgresql,
        }
    }

    /// SQL text of a shape.
    pub fn statement(self, shape: &Shape, tables: &[Table]) -> String {
        let mut sql = Sql { text: String::new(), numbered: self == Self::Postgresql, next: 0 };
        match shape {
            Shape::Get { lookups, lock } => {
                let columns: Vec<String> =
                    lookups.iter().map(|lookup| names(&tables[lookup.table], &lookup.columns)).collect();
                let from: Vec<&str> = lookups.iter().map(|lookup| tables[lookup.table].name.as_str()).collect();
                sql.add("SELECT ").add(&columns.join(", ")).add(" FROM ").add(&from.join(", "));
                let mut first = true;
                for table in lookups.iter().map(|lookup| &tables[lookup.table]) {
                    equal(&mut sql, table, &table.primary, &mut first);
                }
                sql.add(self.lock(*lock));
            }
            Shape::Read(read) => self.read(read, &tables[read.table], &mut sql),
            Shape::CountJoined(join) => count_joined(join, tables, &mut sql),
            Shape::Insert { table, columns } => {
                let table = &tables[*table];
                sql.add("INSERT INTO ").add(&table.name).add(" (").add(&names(table, columns)).add(") VALUES (");
                (0..columns.len()).for_each(|index| {
                    sql.add(if index > 0 { ", " } else { "" }).parameter();
                });
                sql.add(")");
            }
            Shape::Update { table, set, equal: columns } => {
                let table = &tables[*table];
                sql.add("UPDATE ").add(&table.name).add(" SET ");
                for (index, change) in set.iter().enumerate() {
                    sql.add(if index > 0 { ", " } else { "" });
                    assign(&mut sql, table, *change);
                }
                equal(&mut sql, table, columns, &mut true);
            }
            Shape::Delete { table, equal: columns } => {
                let table = &tables[*table];
                sql.add("DELETE FROM ").add(&table.name);
                equal(&mut sql, table, columns, &mut true);
            }
        }
        sql.text
    }

    fn read(self, read: &Read, table: &Table, sql: &mut Sql) {
        let name = |column: usize| table.columns[column].name;
        let what = match &read.take {
            Take::Columns(columns) => names(table, columns),
            Take::Count => "COUNT(*)".into(),
            Take::Sum(column) => format!("SUM({})", name(*column)),
            Take::Distinct(column) => format!("DISTINCT {}", name(*column)),
        };
        sql.add("SELECT ").add(&what).add(" FROM ").add(&table.name);
        let mut first = true;
        equal(sql, table, &read.equal, &mut first);
        match read.bounds {
            Some(Bounds::Between(column)) => {
                sql.condition(&mut first).add(name(column)).add(" BETWEEN ").parameter().add(" AND ").parameter();
            }
            Some(Bounds::From(column)) => {
                sql.condition(&mut first).add(name(column)).add(" >= ").parameter();
            }
            None => {}
        }
        if let Some(column) = read.below {
            sql.condition(&mut first).add(name(column)).add(" < ").parameter();
        }
        for (index, by) in read.order.iter().enumerate() {
            sql.add(if index > 0 { ", " } else { " ORDER BY " }).add(name(by.column));
            sql.add(if by.descending { " DESC" } else { "" });
        }
        match read.limit {
            Limit::None => {}
            Limit::Fixed(most) => write!(sql.text, " LIMIT {most}").expect("a string takes text"),
            Limit::Parameter => {
                sql.add(" LIMIT ").parameter();
            }
        }
        sql.add(self.lock(read.lock));
    }

    /// Locking clause. SQLite has one writer at a time and needs none.
    fn lock(self, wanted: bool) -> &'static str {
        if wanted && self != Self::Sqlite { " FOR UPDATE" } else { "" }
    }

    /// Statements that create a table, without its secondary indexes.
    pub fn create(self, table: &Table) -> String {
        let mut columns: Vec<String> = table.columns.iter().map(|column| self.column(table, column)).collect();
        if !table.primary.is_empty() && !self.numbers_rows(table) {
            columns.push(format!("PRIMARY KEY ({})", names(table, &table.primary)));
        }
        columns.extend(self.made_at_once(table).map(|index| {
            let names = names(table, &index.columns);
            format!("KEY {} ({names})", index.name)
        }));
        // Text is compared byte by byte everywhere, so that names sort equally on every product.
        let tail = match self {
            Self::Mysql => {
                format!(" ENGINE={} DEFAULT CHARACTER SET latin1 COLLATE latin1_bin", word(&table.storage_engine))
            }
            Self::Sqlite if !table.primary.is_empty() && !self.numbers_rows(table) => " WITHOUT ROWID".into(),
            Self::Sqlite | Self::Postgresql => String::new(),
        };
        format!("CREATE TABLE {} ({}){tail}", table.name, columns.join(", "))
    }

    /// Index that must be created with the table: MariaDB and MySQL number only an indexed column.
    fn made_at_once(self, table: &Table) -> Option<&Index> {
        let numbers = self == Self::Mysql && table.auto_increment && table.primary.is_empty();
        table.indexes.first().filter(|_| numbers)
    }

    /// Statements that create a table's secondary indexes.
    pub fn indexes(self, table: &Table) -> Vec<String> {
        let text =
            |index: &Index| format!("CREATE INDEX {} ON {} ({})", index.name, table.name, names(table, &index.columns));
        table.indexes.iter().skip(self.made_at_once(table).iter().count()).map(text).collect()
    }

    /// True if SQLite numbers the rows: the column needs its own INTEGER PRIMARY KEY.
    fn numbers_rows(self, table: &Table) -> bool {
        self == Self::Sqlite
            && matches!(table.primary[..], [only] if matches!(table.columns[only].kind, Kind::Int | Kind::BigInt))
    }

    fn column(self, table: &Table, column: &Column) -> String {
        let mut text = format!("{} {}", column.name, self.kind(column.kind));
        let is_key = table.primary.iter().any(|&key| table.columns[key].name == column.name);
        if is_key && self.numbers_rows(table) {
            return text + " PRIMARY KEY";
        }
        if matches!(column.kind, Kind::JsonInt { .. }) {
            return text;
        }
        if !column.null {
            text += " NOT NULL";
        }
        let numbers = table.number_column().is_some_and(|number| table.columns[number].name == column.name);
        if numbers && table.auto_increment {
            text += match self {
                Self::Mysql => " AUTO_INCREMENT",
                Self::Postgresql => " GENERATED BY DEFAULT AS IDENTITY",
                Self::Sqlite => "",
            };
        }
        text
    }

    fn kind(self, kind: Kind) -> String {
        match (self, kind) {
            (Self::Sqlite, Kind::Int | Kind::BigInt | Kind::Decimal { .. } | Kind::Time) => "INTEGER".into(),
            (Self::Sqlite, Kind::Char(_) | Kind::Text(_) | Kind::Json) => "TEXT".into(),
            (Self::Sqlite, Kind::JsonInt { of, key }) => {
                format!("INTEGER GENERATED ALWAYS AS (json_extract({of}, '$.{key}')) VIRTUAL")
            }
            (_, Kind::Int) => "INTEGER".into(),
            (_, Kind::BigInt) => "BIGINT".into(),
            (Self::Mysql, Kind::Decimal { digits, scale }) => format!("DECIMAL({digits},{scale})"),
            (_, Kind::Decimal { digits, scale }) => format!("NUMERIC({digits},{scale})"),
            (Self::Mysql, Kind::Char(length)) => format!("CHAR({length})"),
            (Self::Mysql, Kind::Text(most)) => format!("VARCHAR({most})"),
            (_, Kind::Char(length)) => format!("CHAR({length}) COLLATE \"C\""),
            (_, Kind::Text(most)) => format!("VARCHAR({most}) COLLATE \"C\""),
            (Self::Mysql, Kind::Time) => "DATETIME".into(),
            (_, Kind::Time) => "TIMESTAMP(0)".into(),
            (Self::Mysql, Kind::Json) => "JSON".into(),
            (_, Kind::Json) => "JSONB".into(),
            (Self::Mysql, Kind::JsonInt { of, key }) => {
                format!("BIGINT AS (CAST(JSON_UNQUOTE(JSON_EXTRACT({of}, '$.{key}')) AS SIGNED)) VIRTUAL")
            }
            (_, Kind::JsonInt { of, key }) => format!("BIGINT GENERATED ALWAYS AS (({of}->>'{key}')::bigint) STORED"),
        }
    }
}

fn equal(sql: &mut Sql, table: &Table, columns: &[usize], first: &mut bool) {
    for &column in columns {
        sql.condition(first).add(table.columns[column].name).add(" = ").parameter();
    }
}

fn assign(sql: &mut Sql, table: &Table, change: Set) {
    match change {
        Set::To(column) => {
            sql.add(table.columns[column].name).add(" = ").parameter();
        }
        Set::Add(column) => {
            let name = table.columns[column].name;
            sql.add(name).add(" = ").add(name).add(" + ").parameter();
        }
        Set::AddFixed(column, by) => {
            let name = table.columns[column].name;
            write!(sql.text, "{name} = {name} + {by}").expect("a string takes text");
        }
    }
}

fn count_joined(join: &CountJoined, tables: &[Table], sql: &mut Sql) {
    let (outer, inner) = (&tables[join.outer], &tables[join.inner]);
    let found = inner.columns[join.inner_via].name;
    sql.add("SELECT COUNT(DISTINCT ").add(found).add(") FROM ").add(&outer.name).add(", ").add(&inner.name);
    let mut first = true;
    equal(sql, outer, &join.equal, &mut first);
    let between = outer.columns[join.between].name;
    sql.condition(&mut first).add(between).add(" BETWEEN ").parameter().add(" AND ").parameter();
    equal(sql, inner, &join.inner_equal, &mut first);
    sql.condition(&mut first).add(found).add(" = ").add(outer.columns[join.via].name);
    sql.condition(&mut first).add(inner.columns[join.below].name).add(" < ").parameter();
}

#[cfg(test)]
mod tests {
    use super::*;
    use tameshi_workload::program::tpcc::schema::sql;
    use tameshi_workload::program::{Delivery, Manner, Oltp, OltpMix, Program, ProgramSpec, Tpcc, Waits};

    #[test]
    fn sysbench_statements_equal_sysbench() {
        let program = Program::new(&ProgramSpec::Oltp(Oltp::of(OltpMix::ReadWrite, 1, 2, 10)), 1);
        let catalogue = program.catalogue();
        let text = |shape: usize| Dialect::Mysql.statement(&catalogue.shapes[shape], &catalogue.tables);
        let expected = [
            "SELECT c FROM sbtest2 WHERE id = ?",
            "SELECT c FROM sbtest2 WHERE id BETWEEN ? AND ?",
            "SELECT SUM(k) FROM sbtest2 WHERE id BETWEEN ? AND ?",
            "SELECT c FROM sbtest2 WHERE id BETWEEN ? AND ? ORDER BY c",
            "SELECT DISTINCT c FROM sbtest2 WHERE id BETWEEN ? AND ? ORDER BY c",
            "UPDATE sbtest2 SET k = k + 1 WHERE id = ?",
            "UPDATE sbtest2 SET c = ? WHERE id = ?",
            "DELETE FROM sbtest2 WHERE id = ?",
            "INSERT INTO sbtest2 (id, k, c, pad) VALUES (?, ?, ?, ?)",
        ];
        assert_eq!((10..19).map(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn tables_follow_sysbench_options() {
        let made = |dialect: Dialect, change: fn(&mut Oltp)| {
            let mut spec = Oltp::of(OltpMix::ReadWrite, 1, 1, 10);
            change(&mut spec);
            let program = Program::new(&ProgramSpec::Oltp(spec), 1);
            let table = &program.catalogue().tables[0];
            std::iter::once(dialect.create(table)).chain(dialect.indexes(table)).collect::<Vec<_>>().join("; ")
        };
        let usual = made(Dialect::Mysql, |_| {});
        assert_eq!(
            usual,
            "CREATE TABLE sbtest1 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER NOT NULL, c CHAR(120) NOT NULL, \
             pad CHAR(60) NOT NULL, PRIMARY KEY (id)) ENGINE=innodb DEFAULT CHARACTER SET latin1 COLLATE latin1_bin; \
             CREATE INDEX k_1 ON sbtest1 (k)"
        );
        let plain = |spec: &mut Oltp| (spec.auto_inc, spec.create_secondary) = (false, false);
        assert_eq!(
            made(Dialect::Mysql, plain),
            usual.replace(" AUTO_INCREMENT", "").replace("; CREATE INDEX k_1 ON sbtest1 (k)", "")
        );
        let secondary = |spec: &mut Oltp| (spec.secondary, spec.mysql_storage_engine) = (true, "Aria; DROP".into());
        assert_eq!(
            made(Dialect::Mysql, secondary),
            usual.replace("PRIMARY KEY (id)", "KEY xid_1 (id)").replace("innodb", "AriaDROP")
        );
        for (dialect, number) in [
            (Dialect::Postgresql, "id INTEGER NOT NULL GENERATED BY DEFAULT AS IDENTITY,"),
            (Dialect::Sqlite, "id INTEGER NOT NULL,"),
        ] {
            let text = made(dialect, secondary);
            assert!(text.contains(number) && !text.contains("PRIMARY"), "{text}");
            assert!(text.ends_with("CREATE INDEX xid_1 ON sbtest1 (id); CREATE INDEX k_1 ON sbtest1 (k)"), "{text}");
        }
    }

    #[test]
    fn locks_numbers_and_limits_use_each_product_dialect() {
        let (manner, waits, delivery) = (Manner::Specification, Waits::None, Delivery::AtOnce);
        let spec = Tpcc { warehouses: Some(1), clients: 1, manner, waits, delivery, rate: None };
        let program = Program::new(&ProgramSpec::Tpcc(spec), 1);
        let catalogue = program.catalogue();
        let text =
            |dialect: Dialect, shape: u16| dialect.statement(&catalogue.shapes[shape as usize], &catalogue.tables);
        assert_eq!(
            text(Dialect::Postgresql, sql::OLDEST),
            "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id LIMIT 1 FOR UPDATE"
        );
        assert!(!text(Dialect::Sqlite, sql::OLDEST).contains("FOR UPDATE"));
        assert_eq!(
            text(Dialect::Mysql, sql::CUSTOMER_AND_WAREHOUSE),
            "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
             WHERE c_w_id = ? AND c_d_id = ? AND c_id = ? AND w_id = ?"
        );
        assert_eq!(
            text(Dialect::Postgresql, sql::LOW_STOCK),
            "SELECT COUNT(DISTINCT s_i_id) FROM order_line, stock WHERE ol_w_id = $1 AND ol_d_id = $2 \
             AND ol_o_id BETWEEN $3 AND $4 AND s_w_id = $5 AND s_i_id = ol_i_id AND s_quantity < $6"
        );
        assert_eq!(
            text(Dialect::Mysql, sql::PAY_CUSTOMER),
            "UPDATE customer SET c_balance = c_balance + ?, c_ytd_payment = c_ytd_payment + ?, \
             c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?"
        );
    }
}
