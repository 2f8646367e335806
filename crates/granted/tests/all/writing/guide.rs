//! The scenario of docs/writes.md, with a real agent's server.

use serde_json::json;

use super::World;

const GUIDE: &str = include_str!("../../../../../docs/writes.md");

const CHECK: &str = "\
import sys
compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')
";

/// Everything that the guide tells, in its order.
#[test]
fn the_day_of_the_guide_goes_as_it_is_told() {
    let world = World::new();
    let brief = GUIDE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    world.home.write("site/granted.toml", brief);
    world.home.write("site/tools/check.py", CHECK);
    world.home.write("site/src/app.py", "print('one')\n");
    let nonce = world.nonce("producer");
    let mut client = world.serve("producer");
    let filed = client.call("write_file", world.change("src/app.py", "print('two')\n", &nonce));
    assert_eq!(filed["status"], "staged", "{filed}");
    let (id, digest) = (filed["request_id"].as_str().unwrap(), filed["digest"].as_str().unwrap());
    let shown = world.home.say(&format!("writes show {id}")).ok().stdout;
    assert!(shown.contains("-print('one')") && shown.contains(digest), "{shown}");
    world.home.say(&format!("writes approve {id} --digest {digest} --by me")).ok();
    assert_eq!(world.text("src/app.py"), "print('two')\n");
    client.end();

    world.sign("producer", "");
    let mut client = world.serve("producer");
    let filed = client.call("write_file", world.change("src/app.py", "print('three')\n", &nonce));
    assert_eq!(filed["status"], "applied", "{filed}");
    assert_eq!(world.text("src/app.py"), "print('three')\n");
    let refused = client.call("write_file", world.change("src/app.py", "print('four'\n", &nonce));
    assert_eq!(refused["reason"], "gate_failed", "{refused}");
    assert!(refused["detail"].as_str().unwrap().contains("SyntaxError"), "{refused}");
    let gone = json!({"path": "src/app.py", "base_sha256": world.base("src/app.py"),
                      "rationale": "unused", "dispatch": nonce});
    assert_eq!(client.call("delete_file", gone)["status"], "staged");
    let applied = filed["request_id"].as_str().unwrap();
    let taken = world.home.say(&format!("writes revert {applied} --json")).ok().json();
    let (id, digest) = (taken["id"].as_str().unwrap(), taken["digest"].as_str().unwrap());
    world.home.say(&format!("writes approve {id} --digest {digest} --by me")).ok();
    assert_eq!(world.text("src/app.py"), "print('two')\n");
    world.home.say("writes revoke producer --project site").ok();
    let filed = client.call("write_file", world.change("src/app.py", "print('five')\n", &nonce));
    assert_eq!(filed["status"], "staged");
    client.end();
    world.home.verify();
}
