//! Consistency conditions of clause 3.3.2 as queries. tidy: table

/// Queries that count violations, per condition. Sums over nothing become zero, so that no NULL
/// hides a violation. `delivered`: delivered orders per district after loading; `fresh`: nothing
/// ran since.
///
/// Condition 11 in the specification (orders less new orders are 2100) holds until the first
/// Delivery. The check uses an invariant form: the difference is 2100 plus the deliveries since,
/// which the district's customers count. C_DELIVERY_CNT is zero after loading (clause 4.3.3.1) and
/// grows by one per delivered order (clause 2.7.4.2).
pub(crate) fn queries(delivered: u64, fresh: bool) -> Vec<(u32, Vec<String>)> {
    let of_district = "SELECT COUNT(*) FROM district";
    let orders = "(SELECT o_w_id w, o_d_id d, MAX(o_id) latest, SUM(o_ol_cnt) line_count, COUNT(*) n \
                  FROM orders GROUP BY o_w_id, o_d_id) o ON o.w = d_w_id AND o.d = d_id";
    let open = "(SELECT no_w_id w, no_d_id d, MAX(no_o_id) latest, MIN(no_o_id) oldest, COUNT(*) n \
                FROM new_order GROUP BY no_w_id, no_d_id) n ON n.w = d_w_id AND n.d = d_id";
    let bought = "(SELECT o_w_id w, o_d_id d, o_c_id c, SUM(ol_amount) amount FROM orders, order_line \
                  WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id AND ol_delivery_d IS NOT NULL \
                  GROUP BY o_w_id, o_d_id, o_c_id) b ON b.w = c_w_id AND b.d = c_d_id AND b.c = c_id";
    let paid = "(SELECT h_c_w_id w, h_c_d_id d, h_c_id c, SUM(h_amount) amount FROM history \
                GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON p.w = c_w_id AND p.d = c_d_id AND p.c = c_id";
    let line_key = "ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id";
    let open_key = "no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id";
    let mut all = vec![
        (
            1,
            vec![
                "SELECT COUNT(*) FROM warehouse LEFT JOIN (SELECT d_w_id w, SUM(d_ytd) ytd FROM district \
                  GROUP BY d_w_id) x ON x.w = w_id WHERE w_ytd <> COALESCE(ytd, 0)"
                    .to_string(),
            ],
        ),
        (
            2,
            vec![format!(
                "{of_district} LEFT JOIN {orders} LEFT JOIN {open} WHERE d_next_o_id - 1 <> COALESCE(o.latest, 0) \
                          OR (n.latest IS NOT NULL AND d_next_o_id - 1 <> n.latest)"
            )],
        ),
        (3, vec![format!("{of_district} JOIN {open} WHERE n.latest - n.oldest + 1 <> n.n")]),
        (
            4,
            vec![format!(
                "{of_district} LEFT JOIN {orders} LEFT JOIN (SELECT ol_w_id w, ol_d_id d, COUNT(*) n \
                          FROM order_line GROUP BY ol_w_id, ol_d_id) l ON l.w = d_w_id AND l.d = d_id \
                          WHERE COALESCE(o.line_count, 0) <> COALESCE(l.n, 0)"
            )],
        ),
        (
            5,
            vec![
                format!(
                    "SELECT COUNT(*) FROM orders LEFT JOIN new_order ON {open_key} \
                     WHERE (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)"
                ),
                format!("SELECT COUNT(*) FROM new_order LEFT JOIN orders ON {open_key} WHERE o_id IS NULL"),
            ],
        ),
        (
            6,
            vec![
            "SELECT COUNT(*) FROM orders LEFT JOIN (SELECT ol_w_id w, ol_d_id d, ol_o_id o, COUNT(*) n FROM order_line \
             GROUP BY ol_w_id, ol_d_id, ol_o_id) l ON l.w = o_w_id AND l.d = o_d_id AND l.o = o_id \
             WHERE o_ol_cnt <> COALESCE(l.n, 0)".to_string(),
            format!("SELECT COUNT(*) FROM order_line LEFT JOIN orders ON {line_key} WHERE o_id IS NULL"),
        ],
        ),
        (
            7,
            vec![format!(
                "SELECT COUNT(*) FROM order_line JOIN orders ON {line_key} \
                          WHERE (ol_delivery_d IS NULL) <> (o_carrier_id IS NULL)"
            )],
        ),
        (
            8,
            vec![
                "SELECT COUNT(*) FROM warehouse LEFT JOIN (SELECT h_w_id w, SUM(h_amount) amount FROM history \
                  GROUP BY h_w_id) x ON x.w = w_id WHERE w_ytd <> COALESCE(amount, 0)"
                    .to_string(),
            ],
        ),
        (
            9,
            vec![format!(
                "{of_district} LEFT JOIN (SELECT h_w_id w, h_d_id d, SUM(h_amount) amount FROM history \
                          GROUP BY h_w_id, h_d_id) x ON x.w = d_w_id AND x.d = d_id WHERE d_ytd <> COALESCE(amount, 0)"
            )],
        ),
        (
            10,
            vec![format!(
                "SELECT COUNT(*) FROM customer LEFT JOIN {bought} LEFT JOIN {paid} \
                           WHERE c_balance <> COALESCE(b.amount, 0) - COALESCE(p.amount, 0)"
            )],
        ),
        (
            12,
            vec![format!(
                "SELECT COUNT(*) FROM customer LEFT JOIN {bought} \
                           WHERE c_balance + c_ytd_payment <> COALESCE(b.amount, 0)"
            )],
        ),
    ];
    let closed = "COALESCE(o.n, 0) - COALESCE(n.n, 0)";
    let counted = "(SELECT c_w_id w, c_d_id d, SUM(c_delivery_cnt) n FROM customer GROUP BY c_w_id, c_d_id) c \
                   ON c.w = d_w_id AND c.d = d_id";
    let mut eleventh = vec![format!(
        "{of_district} LEFT JOIN {orders} LEFT JOIN {open} LEFT JOIN {counted} \
         WHERE {closed} <> {delivered} + COALESCE(c.n, 0)"
    )];
    if fresh {
        eleventh.push(format!("{of_district} LEFT JOIN {orders} LEFT JOIN {open} WHERE {closed} <> {delivered}"));
    }
    all.insert(10, (11, eleventh));
    all
}
