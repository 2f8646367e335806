//! Strings and integers as SSH writes them (RFC 4251, section 5).

/// Puts a string behind the bytes: its length in four bytes, then itself.
pub(super) fn put(out: &mut Vec<u8>, string: &[u8]) {
    // Nothing that is written here comes near 4 GiB.
    out.extend(u32::try_from(string.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend(string);
}

/// Takes a string off the front of some bytes.
pub(super) fn take<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(take_u32(bytes)?).ok()?;
    let (string, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(string)
}

/// Takes an integer of four bytes off the front of some bytes.
pub(super) fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_be_bytes(*first))
}
