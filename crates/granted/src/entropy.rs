//! The one door to randomness: the kernel's.

use std::fmt::Write as _;
use std::io;

/// This many random bytes.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(bytes)
}

/// The random part of an id.
pub fn id_bits() -> io::Result<u128> {
    random().map(u128::from_ne_bytes)
}

/// A token of 256 bits, as 64 hexadecimal digits.
pub fn token() -> io::Result<String> {
    let bytes: [u8; 32] = random()?;
    let mut token = String::with_capacity(64);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}
