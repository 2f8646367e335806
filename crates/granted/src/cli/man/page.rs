//! The pages, in roff.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, roman};
use granted_core::decision::REASONS;

use super::tables::{ENVIRONMENT, EXIT_CODES, FILES, NOTIFIER, PASSED_ON, Row};

/// A page, as far as it is written.
struct Page(String);

/// The whole manual, and a page a verb, each with its file's name.
pub(super) fn all(command: Command) -> Vec<(String, String)> {
    let command = built(command);
    let mut pages = vec![("granted.1".to_owned(), manual(&command))];
    for verb in verbs(&command) {
        let man = man(verb.clone());
        pages.push((man.get_filename(), alone(&man, verb, "`granted`(1)")));
    }
    pages
}

/// The page of the program `sats`, with its file's name. The pages of its verbs are those of `granted sats`.
pub(super) fn sats(command: Command) -> (String, String) {
    let command = built(command);
    let man = man(command.clone());
    let verbs = command.display_name("granted-sats");
    (man.get_filename(), alone(&man, &verbs, "`granted`(1), `granted-sats`(1)"))
}

/// The whole manual: what concerns every verb, and each of them in short.
pub(super) fn whole(command: Command) -> String {
    manual(&built(command))
}

/// With what clap adds to each verb.
fn built(command: Command) -> Command {
    let mut command = command.disable_help_subcommand(true).subcommand_value_name("VERB");
    command.build();
    command
}

/// A writer of the parts that clap knows. The date is not known; it cannot be left out, since what
/// follows it would take its place.
fn man(command: Command) -> Man {
    Man::new(command).source(concat!("granted ", env!("CARGO_PKG_VERSION"))).date(" ")
}

/// The verbs, and below each its own.
fn verbs(command: &Command) -> Vec<&Command> {
    let with_own = |verb| std::iter::once(verb).chain(verbs(verb));
    command.get_subcommands().flat_map(with_own).collect()
}

fn manual(command: &Command) -> String {
    let man = man(command.clone());
    let mut page = Page::begin(&man);
    page.heading("VERBS");
    page.text(
        "Each takes `--json` and `--help`, and has a page of its own, such as `granted-mint`(1).",
    );
    for verb in verbs(command) {
        page.verb(verb);
    }
    page.heading("EXIT STATUS");
    page.table(EXIT_CODES);
    page.heading("REASONS");
    page.text("Every attempt ends as one of four outcomes with one of these reasons.");
    for reason in REASONS {
        page.entry(&format!("`{reason}` ({})", reason.class()), reason.meaning());
    }
    page.heading("ENVIRONMENT");
    page.text("What each of these moves:");
    page.table(ENVIRONMENT);
    page.control("PP", "");
    page.text("Executors are passed these:");
    page.table(PASSED_ON);
    page.control("PP", "");
    page.text("A notifier is passed where everything lies, and these:");
    page.table(NOTIFIER);
    page.heading("FILES");
    page.text("All below `~/.granted`, or `GRANTED_HOME`:");
    page.table(FILES);
    // What it says besides is in the sections above.
    page.example(after_help(command).split("\n\n").next().unwrap_or_default());
    page.0
}

/// The page of one verb.
fn alone(man: &Man, verb: &Command, besides: &str) -> String {
    let mut page = Page::begin(man);
    if verb.has_subcommands() {
        page.heading("VERBS");
        page.body(|w| self::man(verb.clone()).render_subcommands_section(w));
    }
    let help = after_help(verb);
    let mut paragraphs = help.split("\n\n");
    page.example(paragraphs.next().unwrap_or_default());
    for paragraph in paragraphs {
        page.control("PP", "");
        page.text(paragraph);
    }
    page.heading("SEE ALSO");
    page.text(besides);
    page.0
}

/// What stands below a verb's help: an example, and sometimes more.
fn after_help(verb: &Command) -> String {
    verb.get_after_help().map(ToString::to_string).unwrap_or_default()
}

impl Page {
    /// A page from its title to its options.
    fn begin(man: &Man) -> Page {
        let mut page = Page(Roff::new().render());
        page.part(|w| man.render_title(w));
        page.part(|w| man.render_name_section(w));
        page.part(|w| man.render_synopsis_section(w));
        page.part(|w| man.render_description_section(w));
        page.part(|w| man.render_options_section(w));
        page
    }

    /// A verb within the whole manual, without the flags that all have, and those of the verb above it.
    fn verb(&mut self, verb: &Command) {
        let is_above = verb.has_subcommands();
        let man = man(verb.clone().mut_args(|arg| {
            let everywhere = ["help", "json"].iter().any(|id| arg.get_id() == id);
            let above = arg.is_global_set() && !is_above;
            arg.hide(everywhere || above)
        }));
        self.control("SS", verb.get_bin_name().unwrap_or_default());
        self.body(|w| man.render_description_section(w));
        self.control("PP", "");
        self.body(|w| man.render_synopsis_section(w));
        self.body(|w| man.render_options_section(w));
    }

    /// The example below a verb's help.
    fn example(&mut self, text: &str) {
        let (first, rest) = text.split_once('\n').unwrap_or_default();
        self.heading("EXAMPLES");
        if !matches!(first, "Example:" | "Examples:") {
            self.text(first);
            self.control("PP", "");
        }
        self.control("EX", "");
        rest.lines().for_each(|line| self.text(line));
        self.control("EE", "");
    }

    fn heading(&mut self, text: &str) {
        self.control("SH", text);
    }

    fn table(&mut self, rows: &[Row]) {
        rows.iter().for_each(|(what, text)| self.entry(what, text));
    }

    fn entry(&mut self, what: &str, text: &str) {
        self.control("TP", "");
        self.text(what);
        self.text(text);
    }

    /// A line, with what stands in backticks in bold.
    fn text(&mut self, text: &str) {
        let inline = |(at, part): (usize, &str)| match at % 2 {
            0 => roman(part),
            _ => bold(part),
        };
        let inlines: Vec<Inline> = text.split('`').enumerate().map(inline).collect();
        self.add(&Roff::new().text(inlines).render());
    }

    fn control(&mut self, name: &str, argument: &str) {
        let arguments = Some(argument).filter(|argument| !argument.is_empty());
        self.add(&Roff::new().control(name, arguments).render());
    }

    /// Writes a part.
    fn part(&mut self, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        self.add(&rendered(render));
    }

    /// Writes a part without its heading.
    fn body(&mut self, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        let part = rendered(render);
        let body = part.split_once("\n.SH ").and_then(|(_, rest)| rest.split_once('\n'));
        self.0.push_str(body.unwrap_or_default().1);
    }

    /// Adds roff without the preamble, with which the page begins.
    fn add(&mut self, roff: &str) {
        let preamble = Roff::new().render();
        self.0.push_str(roff.strip_prefix(&preamble).unwrap_or(roff));
    }
}

/// Writing into memory does not fail.
fn rendered(render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    let _ = render(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}
