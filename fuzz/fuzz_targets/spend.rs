#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| granted_fuzz::spend::run(bytes));
