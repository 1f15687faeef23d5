//! What the types of the contract cost, and where they may go.

use std::{fmt::Debug, mem::size_of};

use portcullis::{
    AgentEvent, Completed, Cost, DecodeError, Extension, Extra, ExtraMut, Failure, FailureCode,
    ImageRef, InsertError, Json, Principal, Prompt, Retrying, Scope, Text, Thinking, ToolEnded,
    ToolStarted, TurnRecord, TurnSummary, Usage, UsageSink, UsageSource, UsageTally,
    views::{
        Artifact, ArtifactContent, AuthRequired, Budget, Citation, Context, FollowUp,
        InputRequired, Lagged,
    },
};

#[test]
fn sizes() {
    let word = size_of::<usize>();
    assert_eq!(size_of::<AgentEvent>(), 5 * word);
    assert_eq!(size_of::<Result<AgentEvent, DecodeError>>(), 5 * word);
    assert_eq!(size_of::<Json>(), 2 * word);
    for one in [
        size_of::<Extra>(),
        size_of::<Failure>(),
        size_of::<DecodeError>(),
        size_of::<Scope>(),
        size_of::<Prompt>(),
    ] {
        assert_eq!(one, word);
    }
}

/// Events and what they hold cross threads and outlive the request that they belong to.
#[test]
fn auto_traits() {
    fn plain<T: Send + Sync + Unpin + Debug + 'static>() {}
    fn borrowed<T: Send + Sync + Unpin + Debug>() {}
    macro_rules! all {
        ($($ty:ty),* $(,)?) => { $(plain::<$ty>();)* };
    }
    all!(
        AgentEvent,
        Artifact,
        ArtifactContent,
        AuthRequired,
        Budget,
        Citation,
        Completed,
        Context,
        Cost,
        DecodeError,
        Extension,
        Extra,
        Failure,
        FailureCode,
        FollowUp,
        ImageRef,
        InputRequired,
        InsertError,
        Json,
        Lagged,
        Principal,
        Prompt,
        Retrying,
        Scope,
        Text,
        Thinking,
        ToolEnded,
        ToolStarted,
        TurnRecord,
        TurnSummary,
        Usage,
        UsageSink,
        UsageSource,
        UsageTally,
    );
    borrowed::<ExtraMut<'_>>();
}
