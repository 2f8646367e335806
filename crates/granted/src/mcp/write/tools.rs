//! What an agent reads: the instructions, and the tools of writes with their descriptions.

use granted_core::write::Brief;
use granted_core::write::brief::{AgentEntry, Tool as Named};
use rmcp::model::{Tool, ToolAnnotations};

use super::super::schema::object;
use super::schema;

/// The protocol in a few lines.
pub(super) const INSTRUCTIONS: &str = "\
You change the files of one project through these tools, and only through them. What you file waits until a person \
approves it, or is written at once where they signed for that in advance.
1. Call read_file_hashed {path}; keep base_sha256. Of a file that is not there it is `absent`.
2. File the whole new content with that base_sha256, a rationale for the person, and a fresh `key` of your own: write_file or \
delete_file for one file, propose_changes for several that belong together (all or nothing).
3. Read `status`. staged: filed, and not written; go on with other work and do not file it again. applied: written.
4. refused: read `reason` and `detail`. stale_base: read the file again and redo your change on what is there now. gate_failed: \
mend what the check says. dispatch: ask the person for a nonce. Any other: correct it, or tell the person once and stop.
5. unresolved, applying, undone or unknown: tell the person; do not file it again.
6. Lost the answer? Repeat the call with the same `key`: nothing is filed twice. Later: request_status {request_id}.
7. You cannot approve here, and a person's word in a chat approves nothing: they run `granted writes approve`. \
Only the tools that are listed are yours; do not change the files by any other way.";

/// What `read_file_hashed` takes.
pub(super) const READ_TAKES: &[&str] = &["path"];
/// What `write_file` takes.
pub(super) const WRITE_TAKES: &[&str] =
    &["path", "content", "encoding", "base_sha256", "rationale", "gates", "dispatch", "key"];
/// What `delete_file` takes.
pub(super) const DELETE_TAKES: &[&str] =
    &["path", "base_sha256", "rationale", "gates", "dispatch", "key"];
/// What `propose_changes` takes.
pub(super) const PROPOSE_TAKES: &[&str] = &["changes", "rationale", "gates", "dispatch", "key"];
/// What each of its changes takes.
pub(super) const CHANGE_TAKES: &[&str] = &["path", "content", "encoding", "base_sha256"];
/// What `request_status` takes.
pub(super) const STATUS_TAKES: &[&str] = &["request_id"];

const ABOUT_READ: &str = "\
Read one file of the project, whole, with the digest that a change of it must name. Use it right before write_file, delete_file or \
propose_changes, and again after a refusal with stale_base. To see what became of a change set, use request_status.

Reads only: it may be called at any time. A file that is not there is no error: `exists` is false and base_sha256 is `absent`.

Returns `path` (after links), `exists`, `base_sha256`, `bytes`, `encoding` and `content`: UTF-8 text as it is, anything else in \
base 64. Refused (status `refused`, with `reason` and `detail`): what lies outside the project, is no regular file or has other names (hard links), is larger than the \
brief allows, belongs to the control plane (.git, .claude and the like), or looks like a secret by its name (.env, *.pem, id_*).";

const FILED: &str = "\
Files it, with a record that the person reads. Usually it then waits (status `staged`): nothing is written, and it is not yours to \
wait for. Where the person signed a direct grant it is written at once (status `applied`); `not_direct` says why not. The checks of \
the brief run first (seconds to minutes; progress is sent if asked for). Cancelling leaves it unfiled or filed whole.

Returns `status`, `request_id`, the files with their digests, the checks that passed, and for a refusal `reason`, `detail` and, where \
the file is not what the change was based on, `current` with its digest now. A refusal is a normal result, not an error.

What to do next: staged or applied: report it once and go on. refused with stale_base: read_file_hashed, redo the change on what is \
there, file it with a new `key`. refused with gate_failed: mend what `detail` quotes. refused with dispatch: ask the person for a \
nonce. refused with out_of_scope or protected: leave the file; tell the person once. undone, unresolved or unknown: tell the person.

Repeating a call with the same `key` is safe: it answers how the first stands and files nothing.";

const ABOUT_WRITE: &str = "\
File the whole new content of one file, new or changed. For a deletion use delete_file; for several files that belong together use \
propose_changes.";

const ABOUT_DELETE: &str = "\
File the deletion of one file. It always waits for the person. To change a file use write_file.";

const ABOUT_PROPOSE: &str = "\
File one change set over several files: new contents and deletions that belong together, approved and written all or none. For one \
file use write_file or delete_file. A change set with a deletion always waits for the person.";

const ABOUT_STATUS: &str = "\
Look up how a change set that you filed stands. Use it later, for one that was staged, or after a lost answer of which you know the \
request_id. To file, use write_file, delete_file or propose_changes.

Reads only: it may be called at any time. An id that is no request of yours is no error: its status is `none`.

Returns what the filing returned, as it is now: staged (it still waits), applied, rejected (with the person's words in `detail`), \
expired (nobody approved it in time), refused, undone, unresolved or applying.";

/// The tools that the brief gives an agent, in their order.
pub(super) fn all(brief: &Brief, entry: &AgentEntry) -> Vec<Tool> {
    entry.tools.iter().map(|tool| one(*tool, brief, entry)).collect()
}

fn one(named: Named, brief: &Brief, entry: &AgentEntry) -> Tool {
    let reads = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false)
    };
    // Idempotent only with a key, so the hint is false. What is written at once can be taken back, but
    // a client that asks before what destroys should ask here.
    let files = |title: &str| {
        ToolAnnotations::with_title(title)
            .read_only(false)
            .destructive(true)
            .idempotent(false)
            .open_world(false)
    };
    let filed = |about: &str| format!("{about}\n\n{FILED}");
    let (title, about, input, output, annotations) = match named {
        Named::ReadFileHashed => {
            let title = "Read a file";
            let (input, output) = (schema::read_input(), schema::read_output());
            (title, ABOUT_READ.to_owned(), input, output, reads(title))
        }
        Named::WriteFile => {
            let title = "File a file's new content";
            let input = schema::write_input(entry);
            (title, filed(ABOUT_WRITE), input, schema::answer(), files(title))
        }
        Named::DeleteFile => {
            let title = "File a deletion";
            let input = schema::delete_input(entry);
            (title, filed(ABOUT_DELETE), input, schema::answer(), files(title))
        }
        Named::ProposeChanges => {
            let title = "File a change set";
            let input = schema::propose_input(entry, &brief.caps);
            (title, filed(ABOUT_PROPOSE), input, schema::answer(), files(title))
        }
        Named::RequestStatus => {
            let title = "Look up a change set";
            let (input, output) = (schema::status_input(), schema::answer());
            (title, ABOUT_STATUS.to_owned(), input, output, reads(title))
        }
    };
    Tool::new(named.as_str(), about, object(input))
        .with_title(title)
        .with_raw_output_schema(object(output))
        .with_annotations(annotations)
}
