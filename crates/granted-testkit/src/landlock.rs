//! A kernel without Landlock, which a filter of system calls makes of this one for a process.

use std::process::Command;

/// Runs the ignored test of this name, of the binary that runs now, where there is no Landlock; it is to pass.
///
/// The filter is made of the numbers of x86-64: elsewhere nothing is run.
#[expect(clippy::disallowed_methods, reason = "the test is run by another program")]
pub fn without(test: &str) {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    // BPF: load the number of the call; landlock_create_ruleset is not there, all others are.
    let script = "my $code = pack('SCCL' x 4, 0x20,0,0,0, 0x15,0,1,444, 0x06,0,0,0x50026, 0x06,0,0,0x7fff0000); \
                  my $filter = pack('Sx6P', 4, $code); \
                  syscall(157, 38, 1, 0, 0, 0) == 0 and syscall(157, 22, 2, $filter, 0, 0) == 0 or die $!; \
                  exec @ARGV";
    let output = Command::new("perl")
        .args(["-e", script])
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}
