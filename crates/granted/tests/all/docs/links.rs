//! Links between the documents lead somewhere.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Tag, TagEnd};

use super::{Document, documents, events, root};

/// Where a document's links lead to.
fn links(text: &str) -> Vec<String> {
    let link = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.to_string())
        }
        _ => None,
    };
    events(text).filter_map(link).collect()
}

/// The anchors that a forge gives to a document's headings.
fn anchors(text: &str) -> Vec<String> {
    let (mut found, mut heading) = (Vec::new(), None::<String>);
    let mut times: HashMap<String, usize> = HashMap::new();
    for event in events(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                heading.iter_mut().for_each(|heading| heading.push_str(&part));
            }
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap());
                let before = times.entry(anchor.clone()).or_default();
                found.push(if *before == 0 { anchor } else { format!("{anchor}-{before}") });
                *before += 1;
            }
            _ => {}
        }
    }
    found
}

fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        c => (c.is_alphanumeric() || c == '-' || c == '_').then_some(c),
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

/// The path with its `..` resolved by name.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{}", path.display()),
            part => plain.push(part),
        }
    }
    plain
}

/// What is wrong with this link in this document.
fn fault(document: &Document, link: &str) -> Option<String> {
    if ["https://", "http://", "mailto:"].iter().any(|begin| link.starts_with(begin)) {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => PathBuf::from(&document.name),
        path => plain(&Path::new(&document.name).parent().unwrap().join(path)),
    };
    if !root().join(&target).exists() {
        return Some(format!("there is no {}", target.display()));
    }
    let has_anchor = || match path {
        "" => anchors(&document.text),
        _ => anchors(&std::fs::read_to_string(root().join(&target)).unwrap()),
    };
    (!anchor.is_empty() && !has_anchor().iter().any(|a| a == anchor))
        .then(|| format!("{} has no heading #{anchor}", target.display()))
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for document in documents() {
        for link in links(&document.text) {
            assert_eq!(fault(&document, &link), None, "{}: {link}", document.name);
            checked += 1;
        }
    }
    assert!(checked >= 50, "{checked}");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let document = Document {
        name: "docs/cli.md".into(),
        text: "# One `two`: --three\n\n## One\n\n## One\n".into(),
    };
    for link in ["#one-two---three", "#one", "#one-1", "format.md#grants", "../README.md", "adr"] {
        assert_eq!(fault(&document, link), None, "{link}");
    }
    for link in ["#two", "#one-2", "format.md#grant", "../cli.md", "no.md#x"] {
        assert!(fault(&document, link).is_some(), "{link}");
    }
}

/// A script that is named in prose is there.
#[test]
fn every_script_that_is_named_exists() {
    let mut checked = 0;
    for document in documents() {
        for rest in document.text.split("scripts/").skip(1) {
            let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
            let name: String = rest.chars().take_while(|c| is_name(*c)).collect();
            assert!(
                root().join("scripts").join(&name).exists(),
                "{}: scripts/{name}",
                document.name
            );
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked}");
}
