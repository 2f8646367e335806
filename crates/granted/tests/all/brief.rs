//! docs/granted.schema.json and the parser of briefs: both take and refuse the same samples.

use granted_core::write::Brief;
use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/granted.schema.json");

const WHOLE: &str = "\
allow_unconfined_gates = true
protected = ['secrets/', '**/*.pem', 'a/[bc].x']

[agents.producer]
tools = ['read_file_hashed', 'write_file', 'delete_file', 'propose_changes', 'request_status']
write_scopes = ['src/', 'docs/*.md', 'Makefile', 'a/.*/b']
approval = 'direct'
dispatch = 'required'
gates = ['lint']

[agents.x-2]
tools = ['write_file']

[gates.lint]
argv = ['python3', 'tools/check.py', '{file}', '{path}', '--x=y']
paths = ['src/', '**']
needs = ['tools/check.py']
timeout = '10m'

[caps]
file_bytes = 4194304
files = 64
bytes_a_day = 1
staged = 10000
";

/// Whether the program takes a brief.
fn is_read(text: &str) -> bool {
    toml::from_str::<Brief>(text).is_ok_and(|brief| brief.problems().is_empty())
}

#[test]
fn the_schema_and_the_parser_agree() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let is_valid = |text: &str| {
        let table: toml::Table = text.parse().unwrap();
        schema.is_valid(&serde_json::to_value(table).unwrap())
    };
    for good in ["", WHOLE, "[caps]\n", "[agents]\n", "protected = []"] {
        assert!(is_read(good) && is_valid(good), "{good}");
    }
    for (from, to) in [
        ("protected", "Protected"),
        ("allow_unconfined_gates = true", "allow_unconfined_gates = 'yes'"),
        ("agents.x-2", "agents.X-2"),
        ("agents.x-2", "agents.-x"),
        ("tools = ['write_file']", "tools = []"),
        ("tools = ['write_file']", "tools = ['write_file', 'write_file']"),
        ("tools = ['write_file']", "tools = ['run_command']"),
        ("tools = ['write_file']", "tools = ['*']"),
        ("tools = ['write_file']", "write_scopes = ['src/']"),
        ("tools = ['write_file']", "tools = ['write_file']\nmore = 1"),
        ("'direct'", "'auto'"),
        ("dispatch = 'required'", "dispatch = 'optional'"),
        ("dispatch = 'required'\n", ""),
        ("'Makefile'", "'/etc/'"),
        ("'Makefile'", "'~/x'"),
        ("'Makefile'", "'*.md'"),
        ("'Makefile'", "'a/**/b'"),
        ("'Makefile'", "'a/../b'"),
        ("'Makefile'", "'./a'"),
        ("'Makefile'", "'a//b'"),
        ("'Makefile'", "'.git/'"),
        ("'Makefile'", "'a/.GitHub/x'"),
        ("'Makefile'", "'granted.toml'"),
        ("'Makefile'", "''"),
        ("'Makefile'", "'a\\b'"),
        ("'secrets/'", "'../x'"),
        ("'secrets/'", "'a**b'"),
        ("'secrets/'", "'/'"),
        ("argv = ['python3',", "argv = ['/bin/sh',"),
        ("argv = ['python3',", "argv = ['',"),
        ("'{file}'", "'--file={file}'"),
        ("argv = ['python3', 'tools/check.py', '{file}', '{path}', '--x=y']", "argv = []"),
        ("argv = ['python3', 'tools/check.py', '{file}', '{path}', '--x=y']\n", ""),
        ("needs = ['tools/check.py']", "needs = ['./tools/check.py']"),
        ("needs = ['tools/check.py']", "needs = ['tools/']"),
        ("'10m'", "'11m'"),
        ("'10m'", "'0s'"),
        ("'10m'", "'601s'"),
        ("'10m'", "'1h'"),
        ("'10m'", "10"),
        ("files = 64", "files = 65"),
        ("files = 64", "files = 0"),
        ("file_bytes = 4194304", "file_bytes = 4194305"),
        ("staged = 10000", "staged = 10001"),
        ("bytes_a_day = 1", "bytes_a_day = 1.5"),
        ("bytes_a_day = 1", "bytes_a_year = 1"),
    ] {
        let bad = WHOLE.replacen(from, to, 1);
        assert_ne!(bad, WHOLE, "{from}");
        assert!(!is_read(&bad), "the parser takes {to}");
        assert!(!is_valid(&bad), "the schema takes {to}");
    }
}
