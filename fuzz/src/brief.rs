//! Whatever a brief holds, it is read or refused; of one that is read, what it protects is never in reach, and
//! no gate covers a scope of which it does not look at each file.

use granted_core::write::decide::{Asker, check_path};
use granted_core::write::direct::uncovered;
use granted_core::write::{Brief, ProjectPath};

/// Paths as agents name them.
const PATHS: [&str; 6] = ["a", "src/a", "src/deep/a.py", "CLAUDE.md", ".git/x", "src/Granted.toml"];

pub fn run(bytes: &[u8]) {
    let Ok(brief) = serde_json::from_slice::<Brief>(bytes) else { return };
    assert!(brief.problems().iter().all(|problem| !problem.contains('\n')));
    let paths = PATHS.map(|path| path.parse::<ProjectPath>().expect("it is a path"));
    for (agent, entry) in &brief.agents {
        let asker = Asker { brief: &brief, agent: Some((agent, entry)) };
        let uncovered = uncovered(agent, entry, &brief);
        for path in &paths {
            if check_path(&asker, path).is_err() {
                continue;
            }
            assert!(!brief.is_protected(path), "{path}");
            let mut scopes = entry.write_scopes.iter().filter(|scope| scope.contains(path));
            let is_gated = !brief.gates_for(Some(entry), path, &[]).is_empty();
            assert!(
                is_gated || !uncovered.is_empty() || scopes.any(|scope| scope.is_one_file()),
                "{path} is in a scope that is taken for gated"
            );
        }
    }
}
