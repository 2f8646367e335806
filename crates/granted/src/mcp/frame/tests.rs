use super::*;

fn refusal(frame: &str) -> Refusal {
    match check(frame.as_bytes()) {
        Checked::Refused(refusal) => refusal,
        other => panic!("{frame}: {other:?}"),
    }
}

#[test]
fn depth_is_counted_from_the_frame_itself() {
    let nested = |depth: usize| {
        let value = "[".repeat(depth) + &"]".repeat(depth);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{value}}}}}"#)
    };
    // The frame, its parameters, and then the lists.
    assert!(matches!(check(nested(MAX_DEPTH - 2).as_bytes()), Checked::Message(_)));
    assert!(refusal(&nested(MAX_DEPTH - 1)).error.message.contains("nested"));
}

#[test]
fn keys_are_compared_within_their_object_only() {
    let frame =
        r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{"a":[{"a":1},{"a":1}]},"A":1}}"#;
    assert!(matches!(check(frame.as_bytes()), Checked::Message(_)));
}

#[test]
fn an_id_is_told_as_it_was_given() {
    for (id, told) in [
        ("7", Some(RequestId::Number(7))),
        ("-7", Some(RequestId::Number(-7))),
        ("9223372036854775807", Some(RequestId::Number(i64::MAX))),
        ("\"7\"", Some(RequestId::String("7".into()))),
        ("\"\"", Some(RequestId::String("".into()))),
        ("9223372036854775808", None),
        ("true", None),
        ("[7]", None),
    ] {
        let frame = format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"x"}}"#);
        assert_eq!(refusal(&frame).id, told, "{id}");
    }
}

#[test]
fn of_two_ids_none_is_told() {
    for (frame, told) in [
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, None),
        (r#"{"jsonrpc":"1.0","id":1,"jsonrpc":"2.0","id":2,"method":"x"}"#, None),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#, Some(RequestId::Number(1))),
    ] {
        assert_eq!(refusal(frame).id, told, "{frame}");
    }
}
