//! Randomness: names that nobody else has.

use std::io;

/// 32 hexadecimal digits from the kernel.
#[expect(clippy::disallowed_methods, reason = "this crate's one door to randomness")]
pub(crate) fn name() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
