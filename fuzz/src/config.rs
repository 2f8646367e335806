//! Whatever the config holds, the answer is a config or one line that says where it is wrong.

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(error) = granted::Config::parse(text) {
        assert!(error.starts_with("line "), "{error}");
        assert!(!error.trim_end().contains('\n'), "{error}");
    }
}
