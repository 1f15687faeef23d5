use std::{fmt, str::FromStr};

use super::Dice;

/// One thing that an agent does. A client sends the words of a script as its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Work,
    /// One piece of the answer.
    Say,
    /// So many pieces without a pause.
    Flood(u32),
    /// Silence, in units of the world's time.
    Wait(u32),
    /// Waits for a message while it works, but no longer than this.
    Listen(u32),
    /// Asks the user. In an executor it may go on, which nobody should notice.
    Ask,
    /// Asks for a credential.
    Sign,
    /// Takes its time when it is dropped.
    Stubborn,
    Complete,
    Fail,
    Panic,
    Reject,
    /// Refuses before anything happened.
    Refuse,
    Cancel,
    /// Answers with a message, where no task is needed.
    Answer,
    /// Never says anything again.
    Hang,
    /// Just ends.
    End,
}

/// What an agent does in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script(pub(crate) Vec<Word>);

impl Script {
    pub(crate) fn roll(dice: &mut Dice) -> Self {
        let mut words = Vec::new();
        match dice.below(20) {
            0 => return Self(vec![Word::Answer]),
            1 => return Self(vec![Word::Reject]),
            2 => return Self(vec![Word::Refuse]),
            3 => return Self(vec![Word::Panic]),
            _ => {}
        }
        if dice.percent(15) {
            words.push(Word::Stubborn);
        }
        if dice.percent(30) {
            words.push(Word::Wait(dice.between(1, 3)));
        }
        if dice.percent(70) {
            words.push(Word::Work);
        }
        for _ in 0..dice.below(6) {
            words.push(match dice.below(10) {
                0 => Word::Flood(dice.between(2, 60)),
                1 => Word::Listen(dice.between(1, 12)),
                2..=4 => Word::Wait(dice.between(1, 6)),
                _ => Word::Say,
            });
        }
        match dice.below(20) {
            0 => words.push(Word::Fail),
            1 => words.push(Word::Panic),
            2 => words.push(Word::End),
            3 => words.push(Word::Cancel),
            4 | 5 => words.push(Word::Hang),
            6 | 7 => {
                words.push(Word::Sign);
                if dice.percent(60) {
                    words.extend([Word::Wait(dice.between(1, 20)), Word::Say, Word::Complete]);
                } else {
                    words.push(Word::End);
                }
            }
            8..=12 => {
                words.push(Word::Ask);
                if dice.percent(30) {
                    // Lingers, and says something when the task may have gone on.
                    words.extend([Word::Wait(dice.between(1, 15)), Word::Say]);
                }
                words.push(Word::End);
            }
            _ => words.push(Word::Complete),
        }
        Self(words)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flood(n) => write!(f, "flood:{n}"),
            Self::Wait(n) => write!(f, "wait:{n}"),
            Self::Listen(n) => write!(f, "listen:{n}"),
            word => f.write_str(&format!("{word:?}").to_lowercase()),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(Word::to_string).collect();
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Script {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = |word: &str| {
            let (name, number) = word.split_once(':').unwrap_or((word, "0"));
            let number = number.parse().map_err(|_| word.to_owned())?;
            Ok(match name {
                "work" => Word::Work,
                "say" => Word::Say,
                "flood" => Word::Flood(number),
                "wait" => Word::Wait(number),
                "listen" => Word::Listen(number),
                "ask" => Word::Ask,
                "sign" => Word::Sign,
                "stubborn" => Word::Stubborn,
                "complete" => Word::Complete,
                "fail" => Word::Fail,
                "panic" => Word::Panic,
                "reject" => Word::Reject,
                "refuse" => Word::Refuse,
                "cancel" => Word::Cancel,
                "answer" => Word::Answer,
                "hang" => Word::Hang,
                "end" => Word::End,
                _ => return Err(word.to_owned()),
            })
        };
        text.split_whitespace()
            .map(word)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}
