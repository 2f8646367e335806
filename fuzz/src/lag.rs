//! Whatever the lines say, each counts once, and the figures are in order.

use granted_core::lag::Lag;

pub fn run(bytes: &[u8]) {
    let mut lag = Lag::default();
    let mut count = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        count += u64::from(!line.trim().is_empty());
        lag.line(&line);
    }
    let summary = lag.summary();
    assert_eq!(summary.n + summary.open + summary.bad, count);
    let figures = [summary.p50_s, summary.p80_s, summary.max_s];
    assert!(
        figures.is_sorted() && figures.iter().all(|figure| figure.is_some() == (summary.n > 0))
    );
    assert!(summary.to_string().starts_with(&format!("n={} ", summary.n)));
}
