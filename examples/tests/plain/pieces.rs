use portcullis::{AgentEvent, Extra};

use crate::wire::keeps;

/// What a reader of a turn has to find again: a guard may cut text and thinking into other pieces, and
/// nothing else.
#[derive(Debug, PartialEq)]
pub(crate) enum Piece {
    /// All that comes in a row, and the unknown members of each event that has some.
    Words {
        thinking: bool,
        text: String,
        extra: Vec<String>,
    },
    Event(String),
}

impl Piece {
    /// Checks that this is what was read, token by token. Answers whether it is an event.
    pub(crate) fn check(&self, read: &Self) -> bool {
        if let (Self::Event(sent), Self::Event(read)) = (self, read) {
            keeps(sent, read);
            return true;
        }
        assert_eq!(self, read);
        false
    }
}

pub(crate) fn in_pieces(texts: &[String]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for text in texts {
        let (is_thinking, delta, members) = match AgentEvent::from_json(text).unwrap() {
            AgentEvent::Text(piece) => (false, piece.delta().to_owned(), shown(piece.extra())),
            AgentEvent::Thinking(piece) => (true, piece.delta().to_owned(), shown(piece.extra())),
            _ => {
                pieces.push(Piece::Event(text.clone()));
                continue;
            }
        };
        match pieces.last_mut() {
            Some(Piece::Words {
                thinking,
                text,
                extra,
            }) if *thinking == is_thinking => {
                text.push_str(&delta);
                extra.extend(members);
            }
            _ => pieces.push(Piece::Words {
                thinking: is_thinking,
                text: delta,
                extra: members.into_iter().collect(),
            }),
        }
    }
    pieces
}

fn shown(extra: &Extra) -> Option<String> {
    let members = extra
        .iter()
        .map(|(name, value)| format!("{name:?}:{value}"));
    (!extra.is_empty()).then(|| members.collect::<Vec<_>>().join(","))
}
