//! A grants file is read to the letter: what is signed of each record is read back as the same grant, and no
//! signature that comes is one by a key that nobody has.

use granted_core::trust::Statement;
use granted_core::write::direct::{grants_file_for, read_grants, signed_values};

pub fn run(bytes: &[u8]) {
    if let Some(grant) = Statement::read_direct(bytes) {
        assert_eq!(signed_values(&grant).bytes(), bytes);
    }
    let Ok((records, _)) = read_grants(bytes) else { return };
    let written = serde_json::to_vec(&records).expect("it is JSON");
    assert_eq!(read_grants(&written).expect("it was read").0, records);
    for record in &records {
        let statement = signed_values(&record.grant);
        assert_eq!(Statement::read_direct(&statement.bytes()).as_ref(), Some(&record.grant));
        let file = grants_file_for(&record.grant.project);
        assert_eq!(file.matches('/').count(), 1, "{file}");
    }
}
