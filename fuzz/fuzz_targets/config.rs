//! Whatever the config holds, the answer is a config or one line that says where it is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Err(error) = granted::Config::parse(text) {
        assert!(error.starts_with("line "), "{error}");
        assert!(!error.trim_end().contains('\n'), "{error}");
    }
});
