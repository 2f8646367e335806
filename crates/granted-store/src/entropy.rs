//! The one door to randomness: the kernel's.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// This many random bytes.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    // So few come all at once, or none do.
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        count if count == N => Ok(bytes),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// So many random bytes as hexadecimal digits, two a byte: a name or a token that nobody else has.
pub fn hex<const N: usize>() -> io::Result<String> {
    let bytes: [u8; N] = random()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
