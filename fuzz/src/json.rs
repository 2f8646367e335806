//! Free JSON is read one way or refused, and written in one way, which is the canonical one.

use granted_core::json::Json;
use serde_json::Value;

pub fn run(bytes: &[u8]) {
    let read = serde_json::from_slice::<Json>(bytes);
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        assert!(read.is_err(), "no other reader takes it for JSON");
        return;
    };
    if let Ok(json) = read {
        let text = json.to_text();
        assert_eq!(serde_json::from_str::<Json>(&text).expect("it was written"), json);
        assert_eq!(serde_json::from_str::<Value>(&text).expect("it was written"), value);
    }
}
