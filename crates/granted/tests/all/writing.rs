//! Agents that write: the server's process, the signed grants, and the verbs around them.

mod grants;
mod guide;
mod hosts;
mod server;

use std::path::PathBuf;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::client::Client;
use crate::home::{Home, Run};

/// A brief that asks for direct writes.
pub const BRIEF: &str = "\
protected = ['src/locked/']

[agents.producer]
tools = ['read_file_hashed', 'write_file', 'delete_file', 'propose_changes', 'request_status']
write_scopes = ['src/']
approval = 'direct'
dispatch = 'required'
gates = ['fine']

[agents.reader]
tools = ['read_file_hashed', 'request_status']

[gates.fine]
argv = ['/bin/true', '{file}']
";

/// A home, a project in it, and a person with a trusted SSH key.
pub struct World {
    pub home: Home,
}

impl World {
    pub fn new() -> World {
        let home = Home::new();
        home.write("site/granted.toml", BRIEF);
        home.write("site/src/a.txt", "one\n");
        let world = World { home };
        world.keygen(&["-q", "-t", "ed25519", "-N", "", "-f", "key"]);
        world.home.say("key trust key.pub --name laptop").ok();
        world
    }

    fn keygen(&self, args: &[&str]) {
        let run = Run::from(self.home.other("ssh-keygen").args(args).output().unwrap());
        assert_eq!(run.code, 0, "{run:?}");
    }

    /// Signs a direct grant elsewhere; its id.
    #[track_caller]
    pub fn sign(&self, agent: &str, more: &str) -> String {
        for file in ["unsigned", "unsigned.sig"] {
            let _ = std::fs::remove_file(self.home.dir().join(file));
        }
        let begin = format!("writes sign {agent} --project site");
        self.home.say(&format!("{begin} --key laptop --unsigned-out unsigned {more}")).ok();
        self.keygen(&[
            "-q",
            "-Y",
            "sign",
            "-f",
            "key",
            "-n",
            "granted.direct-write.v1",
            "unsigned",
        ]);
        let signed = self.home.say(&format!("{begin} --signature unsigned.sig")).ok();
        signed.stdout.trim().to_owned()
    }

    pub fn nonce(&self, agent: &str) -> String {
        let run = self.home.say(&format!("writes dispatch {agent} --project site"));
        run.ok().stdout.trim().to_owned()
    }

    /// A server for an agent, shaken hands with.
    pub fn serve(&self, agent: &str) -> Client {
        let args = ["writes", "mcp", "--agent", agent, "--project", "site"];
        let mut client = Client::of(self.home.command(args));
        client.initialize("2025-11-25");
        client
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.home.dir().join("site").join(path)
    }

    /// What a file holds; `-` if it is not there.
    pub fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap_or("-".into())
    }

    /// What a change of a file as it is now is based on.
    pub fn base(&self, path: &str) -> String {
        match std::fs::read(self.path(path)) {
            Ok(bytes) => Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
            Err(_) => "absent".into(),
        }
    }

    /// What `write_file` takes.
    pub fn change(&self, path: &str, content: &str, nonce: &str) -> Value {
        json!({"path": path, "content": content, "base_sha256": self.base(path),
               "rationale": "because", "dispatch": nonce})
    }

    /// The direct grants as they are listed.
    pub fn grants(&self) -> Vec<Value> {
        let listed = self.home.say("writes grants --json").ok().stdout;
        listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
