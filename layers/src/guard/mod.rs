//! Masks, replaces or stops what an agent must not say, although it comes in pieces.
//!
//! # When
//!
//! As the last net before a caller: secrets and personal data that must not leave whatever a
//! model does, and tools that must not be shown.
//!
//! # Where
//!
//! Around [`retry`](crate::retry) and what else invokes again, and inside whatever repairs or
//! stores answers: what they see is guarded. A stop cannot be retried.
//!
//! # How
//!
//! The text of a turn is the pieces of its `text` events, joined, and a guard masks the joined
//! text, however it was cut: text that may still become a match is **held back**, all other text
//! leaves at once. So is thinking. A match is what the crate `regex` would find in the joined
//! text, word boundaries and anchors included.
//!
//! - **Bounded.** No more is held back than the longest match and four bytes. A pattern whose
//!   matches have no bound is refused, unless [`Rules::regex_within`] gives one. 64 KiB is the
//!   most.
//! - **Any other event lets it go**, in its order, before itself: nothing that an engine
//!   does waits for text. What is held back then leaves, masked as far as it matches by now. A
//!   match that goes on behind the other event is still seen, and its rest is masked: of a
//!   secret that is cut by a `usage` the beginning may leave, never all of it.
//! - **All typed channels** are looked at ([`Channel`]): JSON values string by string, after
//!   unescaping, names too. What holds no match keeps its text, token for token. Numbers, ids, and
//!   the names of tools are not looked at.
//! - **Unknown events and members** are [scanned](Unknown) as well. A name that is masked for the
//!   second time in a value gets a number, since two members of one name are an error. What cannot
//!   be masked stops the turn.
//! - **Tools** that are not allowed fail the turn when they begin, or are marked
//!   ([`Rules::allow_tools`], [`Rules::deny_tools`]). This is a last line only: the engine may run
//!   the tool before anybody hears of it, and should have lists of its own.
//!
//! While text is held back, the agent runs past it: it has said something that the caller does not
//! have yet. It runs past nothing else.
//!
//! The guard sees one turn. What is cut between two turns passes.
//!
//! # Ends
//!
//! | end | what is held back |
//! |---|---|
//! | `completed`, `failed` | leaves before it, masked |
//! | a stop | what came before the match leaves, then `failed{permission_denied}`; the agent is dropped in that very poll |
//! | bare end, panic | is lost: nobody said that it was all. With [`conform`](crate::conform) below they are a `failed` |
//! | drop, also while the call is pending | is lost |
//!
//! Nothing awaits, and nothing is left behind by a drop.
//!
//! # Cost
//!
//! Text without a byte that a match may begin with costs one look at each byte and no
//! allocation. From such a byte on, each rule that may begin there follows the text until it
//! cannot match any more: at worst its longest match for each byte. A turn costs the buffers of
//! two texts. `max_hold` needs tokio's timer.
//!
//! # MUST 6
//!
//! Portable: nothing is kept between turns.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::guard::{Action, GuardLayer, Rules};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rules = Rules::new()
//!     .regex(r"\b\d{3}-\d{2}-\d{4}\b", Action::text("[ssn]"))
//!     .secrets(&Action::stop());
//! let leaks = agent_fn(async |_scope, _prompt: Prompt, out| {
//!     for piece in ["It is 078-", "05-11", "20, I think."] {
//!         out.emit(AgentEvent::text(piece)).await;
//!     }
//!     Ok(())
//! });
//! let agent = ServiceBuilder::new().layer(GuardLayer::new(rules)?).service(leaks);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await?;
//! assert_eq!(answer.text, "It is [ssn], I think.");
//! # Ok(())
//! # }
//! ```
//!
//! A [`Matcher`] of one's own: card numbers, told from other digits by their check sum.
//!
//! ```
//! use portcullis_layers::guard::{Action, GuardLayer, Look, Matcher, Rules};
//!
//! struct Cards;
//!
//! impl Matcher for Cards {
//!     fn longest(&self) -> usize {
//!         16
//!     }
//!
//!     fn begins_with(&self, byte: u8) -> bool {
//!         byte.is_ascii_digit()
//!     }
//!
//!     fn look(&self, text: &str, at: usize, more: bool) -> Look {
//!         let is_digit = |byte: &u8| byte.is_ascii_digit();
//!         if text.as_bytes()[..at].last().is_some_and(is_digit) {
//!             return Look::No;
//!         }
//!         let digits: Vec<u8> = text.bytes().skip(at).take_while(is_digit).collect();
//!         match digits.len() {
//!             16 if at + 16 == text.len() && more => Look::More,
//!             16 if luhn(&digits) => Look::Match(at + 16),
//!             0..16 if at + digits.len() == text.len() && more => Look::More,
//!             _ => Look::No,
//!         }
//!     }
//! }
//!
//! fn luhn(digits: &[u8]) -> bool {
//!     let sum: u32 = (0_u32..)
//!         .zip(digits.iter().rev())
//!         .map(|(place, digit)| u32::from(digit - b'0') << (place % 2))
//!         .map(|number| number / 10 + number % 10)
//!         .sum();
//!     sum % 10 == 0
//! }
//!
//! let layer = GuardLayer::new(Rules::new().matcher(Cards, Action::chars('*')));
//! assert!(layer.is_ok());
//! assert!(luhn(b"4111111111111111") && !luhn(b"4111111111111112"));
//! ```
//!
//! A guard that could never act cannot be built:
//!
//! ```
//! use portcullis_layers::guard::{Action, GuardLayer, Rules};
//!
//! assert!(GuardLayer::new(Rules::new()).is_err());
//! let unbounded = GuardLayer::new(Rules::new().regex("key-[a-z]+", Action::stop()));
//! assert!(unbounded.is_err());
//! let rules = Rules::new().regex_within("key-[a-z]+", 256, Action::stop());
//! assert!(GuardLayer::new(rules).is_ok());
//! ```

mod action;
mod channel;
mod error;
mod held;
mod json;
mod layer;
mod matcher;
mod pattern;
mod rules;
mod scan;
mod secrets;
mod tools;
mod turn;

pub use self::{
    action::Action,
    channel::{Channel, Unknown},
    error::GuardError,
    layer::{Guard, GuardLayer},
    matcher::{Look, Matcher},
    rules::Rules,
    tools::Denied,
    turn::GuardTurn,
};
