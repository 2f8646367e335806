//! Times, durations, ids and names: what is read is within its bounds, and is written as it was
//! read; what people are shown holds nothing that is not to be shown.

use granted_core::decision::Object;
use granted_core::decision::document::DocumentName;
use granted_core::id::Id;
use granted_core::text::{Name, Note, ObjectId, ObjectType, Shown, cut, is_shown};
use granted_core::time::{Relative, Stamp, parse_duration};

pub fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let now = Stamp::parse("2026-09-30T08:00:00Z").expect("it is a time");
    if let Ok(stamp) = Stamp::parse(text) {
        assert_eq!(Stamp::parse(&stamp.to_string()), Ok(stamp));
        assert_eq!(Stamp::parse(&format!("{stamp:.6}")), Ok(stamp));
        assert!(!Relative { stamp, now }.to_string().is_empty());
    }
    if let Some(span) = parse_duration(text) {
        assert!((1..=36_500 * 86_400).contains(&span.as_secs()) && span.subsec_nanos() == 0);
        assert_eq!(now.plus(span).since(now), span);
    }
    if let Ok(id) = text.parse::<Id>() {
        assert_eq!(id.to_string(), text);
    }
    let shown = Shown(text).to_string();
    assert!(shown.chars().all(is_shown), "{shown:?}");
    assert!(cut(text, 8).chars().count() <= 9);
    if let Ok(id) = ObjectId::new(text) {
        assert_eq!((id.as_str(), id.to_string()), (text, shown));
        named(id);
    }
    for shown in
        [Name::new(text).map(|name| name.to_string()), Note::new(text).map(|note| note.to_string())]
    {
        assert!(shown.is_err() || shown.is_ok_and(|text| text.chars().all(is_shown)));
    }
}

/// The name of a document is one that every file system takes, and leads nowhere else.
fn named(id: ObjectId) {
    let object = Object { id, r#type: ObjectType::new("..").expect("it is a type") };
    let name = DocumentName::new(&object, Id::new(Stamp::from_micros(0), 0));
    for part in [name.folder(), name.file()] {
        assert!(!part.starts_with('.') && part.len() <= 255, "{part}");
        assert!(part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-%~".contains(&b)), "{part}");
    }
}
