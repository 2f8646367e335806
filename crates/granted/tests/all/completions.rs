//! What `granted completions` prints, in the shells themselves.

use crate::home::{Home, Run};

/// What a shell prints that runs this script, in a home with the program on the search path.
fn shell(program: &str, args: &[&str], script: &str) -> Run {
    let home = Home::new();
    home.write("script", script);
    let mut command = home.other("timeout");
    let output = command.arg("60").arg(program).args(args).arg("script").output().unwrap();
    let run = Run::from(output);
    assert!(run.code != 127, "there is no {program}: install it, or run scripts/test, which does");
    assert_eq!(run.stderr, "", "{program}");
    run.ok()
}

#[test]
fn bash_completes_verbs_and_flags() {
    let run = shell(
        "bash",
        &["--norc"],
        r#"source <(granted completions bash)
registered=$(complete -p granted)
[[ $registered =~ -F\ ([^ ]+) ]] && function=${BASH_REMATCH[1]}
completed() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  "$function" granted "${@: -1}" "${@: -2:1}"
  echo "$*:" "${COMPREPLY[@]}"
}
completed granted sta
completed granted ledger ver
completed granted mint --not
completed granted completions ba
"#,
    );
    let said = "granted sta: status\ngranted ledger ver: verify\n\
        granted mint --not: --not-after --not-before --not-scope\ngranted completions ba: bash\n";
    assert_eq!(run.stdout, said);
}

#[test]
fn fish_completes_verbs_and_flags() {
    let run = shell(
        "fish",
        &["--no-config"],
        "granted completions fish | source\n\
        complete -C 'granted sta'; complete -C 'granted ledger ver'; complete -C 'granted mint --not'",
    );
    // Each line has the word, a tab, and what it is for.
    let words: Vec<&str> =
        run.stdout.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(words, ["status", "verify", "--not-after", "--not-before", "--not-scope"]);
}

/// In a terminal of its own, with keys typed.
#[test]
fn zsh_completes_verbs_and_flags() {
    let run = shell(
        "zsh",
        &["-f"],
        r#"mkdir functions && granted completions zsh > functions/_granted
zmodload zsh/zpty
zpty shell env TERM=dumb zsh -f -i
zpty -w shell 'fpath=($PWD/functions $fpath); autoload -U compinit; compinit -D; print $_comps[granted] is there'
zpty -r shell seen '*_granted is there*'
zpty -w -n shell $'granted stat\t'
zpty -r shell seen '*granted status *'
zpty -w -n shell $'--ty\t'
zpty -r shell seen '*--type*'
zpty -w -n shell $'\x15granted ledger ver\t'
zpty -r shell seen '*ledger verify*'
print all
"#,
    );
    assert_eq!(run.stdout, "all\n");
}

/// These two are not run here: what is printed is theirs.
#[test]
fn elvish_and_powershell_have_a_script_too() {
    let home = Home::new();
    let begins = |shell: &str, text: &str| {
        let run = home.say(&format!("completions {shell}")).ok();
        assert!(run.stdout.trim_start().starts_with(text), "{shell}: {run:?}");
    };
    begins("elvish", "use builtin;");
    begins("powershell", "using namespace System.Management.Automation");
    assert!(!home.root().exists(), "it makes no home");
    home.say("completions csh").exits(2);
}
