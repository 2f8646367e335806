//! The recipes of docs/notices.md. Their text is what is run; the programs that would reach a
//! desktop, a mailbox or a server are stubs of the same names, which write down what they are given.

use crate::home::{Home, Run};

const DOC: &str = include_str!("../../../../../docs/notices.md");

/// What stands between these two texts, each time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    text.split(from).skip(1).map(|rest| rest.split_once(to).unwrap().0).collect()
}

/// A home with this recipe, and stubs in front of its search path.
fn cooked(recipe: &str) -> Home {
    let home = Home::new();
    let here = home.dir().display();
    let stub = format!(
        "#!/bin/sh\nfor arg in \"$0\" \"$@\"; do echo \"arg ${{arg##*/stubs/}}\"; done >> {here}/given\n\
         sed 's/^/in /' >> {here}/given\necho \"bus $DBUS_SESSION_BUS_ADDRESS\" >> {here}/given\n"
    );
    for name in ["notify-send", "mail", "sendmail", "curl"] {
        home.script(&format!("stubs/{name}"), &stub);
    }
    let path = format!("path = \"{here}/stubs:/usr/bin:/bin\"\n");
    let own_path = recipe.lines().find(|line| line.starts_with("path = "));
    let recipe = own_path.map_or(recipe.to_owned(), |own| recipe.replace(&format!("{own}\n"), ""));
    home.write(".granted/config.toml", recipe + &path);
    home
}

/// Runs what the page says to try; what the notifier was given, and its text.
fn given(recipe: &str) -> (Vec<String>, String) {
    let home = cooked(recipe);
    let script = between(DOC, "\n```sh\n", "```\n").concat();
    let mut command = home.other("sh");
    command.args(["-c", &script]).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/my/bus");
    let run = Run::from(command.output().unwrap()).exits(4);
    let shown = between(DOC, "\n```text\n", "```\n").concat();
    assert!(shown.starts_with(run.stdout.lines().last().unwrap()), "{run:?}");
    assert!(!run.stderr.contains("note:"), "{run:?}");
    let attempt = home.rows_of("decision.outcome")[0]["refs"][0][0].clone();
    let attempt = attempt.as_str().unwrap().trim_start_matches("discharge:").to_owned();
    let said = "uncertain: timeout (test/notice) -- stopped after 1s; look, then say what you found: \
                granted resolve ";
    assert!(DOC.replace('\n', " ").contains(&format!("`{said}…`")));
    let given = std::fs::read_to_string(home.dir().join("given")).unwrap();
    (given.lines().map(str::to_owned).collect(), format!("{said}{attempt}"))
}

fn recipes() -> Vec<&'static str> {
    between(DOC, "\n```toml\n", "```\n")
}

#[test]
fn there_are_five_and_each_is_a_config() {
    assert_eq!(recipes().len(), 5);
    for recipe in recipes() {
        assert!(granted::Config::parse(recipe).unwrap().notify.is_some(), "{recipe}");
    }
}

#[test]
fn on_the_desktop() {
    let recipes = recipes();
    for (recipe, bus) in [(recipes[0], "/my/bus"), (recipes[1], "/run/user/1000/bus")] {
        let (given, text) = given(recipe);
        let bus = format!("bus unix:path={bus}");
        let args = ["arg notify-send", "arg --app-name=granted", "arg --urgency=critical"];
        assert_eq!(given, [&args[..], &[&format!("arg {text}"), &bus]].concat());
    }
}

#[test]
fn by_mail() {
    let (mail, text) = given(recipes()[2]);
    let host = rustix::system::uname();
    let subject = format!("arg granted on {}", host.nodename().to_str().unwrap());
    assert_eq!(
        mail,
        ["arg mail", "arg -s", &subject, "arg ada@example.org", &format!("in {text}"), "bus "]
    );
    let (mail, text) = given(recipes()[3]);
    let head = ["arg sendmail", "arg -t", "in To: ada@example.org", "in Subject: granted", "in "];
    assert_eq!(mail, [&head[..], &[&format!("in {text}"), "bus "]].concat());
}

#[test]
fn by_ntfy() {
    let (given, text) = given(recipes()[4]);
    let args = "arg curl,arg -fsS,arg --max-time,arg 20,arg -H,arg Title: granted,\
                arg https://ntfy.example.org/my-secret-topic,arg --data-raw";
    let args: Vec<&str> = args.split(',').collect();
    assert_eq!(given, [&args[..], &[&format!("arg {text}"), "bus "]].concat());
}

/// Every event and every reason that is told stands in the page's tables, and no other.
#[test]
fn the_tables_are_whole() {
    use granted_core::decision::notice::{MORE, Occasion};
    let cells = |from: &str| -> Vec<&'static str> {
        let table = between(DOC, from, "\n\n")[0];
        table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
    };
    assert_eq!(cells("\n| event |"), ["due", "expired", "uncertain", "refused", MORE]);
    let told = granted::REASONS.iter().filter(|r| Occasion::of(**r) == Some(Occasion::Refused));
    let mut told: Vec<&str> = told.map(|reason| reason.as_str()).collect();
    let mut shown = cells("\n| reason |");
    told.sort_unstable();
    shown.sort_unstable();
    assert_eq!(told, shown);
}
