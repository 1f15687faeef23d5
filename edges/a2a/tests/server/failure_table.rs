use std::time::Duration;

use portcullis::{Failure, FailureCode};
use portcullis_a2a::{
    model::ErrorKind,
    server::{Moment, Verdict, verdict},
};

// Ruling 13: every code, at every moment.
#[test]
fn each_code_has_one_verdict_at_each_moment() {
    use ErrorKind::{PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable};
    use Verdict::{Canceled, Failed, Refused, Rejected};

    let table = [
        (
            "unauthenticated",
            Refused(Unauthenticated),
            Rejected,
            Failed,
        ),
        (
            "permission_denied",
            Refused(PermissionDenied),
            Rejected,
            Failed,
        ),
        ("rate_limited", Refused(ResourceExhausted), Rejected, Failed),
        ("overloaded", Refused(Unavailable), Rejected, Failed),
        ("session_busy", Refused(Unavailable), Rejected, Failed),
        ("budget_exceeded", Rejected, Rejected, Failed),
        ("invalid_prompt", Rejected, Rejected, Failed),
        ("aborted", Canceled, Canceled, Canceled),
        ("timeout", Failed, Failed, Failed),
        ("invalid_output", Failed, Failed, Failed),
        ("unavailable", Failed, Failed, Failed),
        ("contract_violation", Failed, Failed, Failed),
        ("internal", Failed, Failed, Failed),
        ("somebody_elses", Failed, Failed, Failed),
    ];
    for (code, at_once, before, after) in table {
        let failure = Failure::with_code(FailureCode::new(code), "no");
        let at = |moment| verdict(&failure, moment);
        assert_eq!(at(Moment::AtOnce), at_once, "{code}");
        assert_eq!(at(Moment::BeforeFirstEvent), before, "{code}");
        assert_eq!(at(Moment::AfterFirstEvent), after, "{code}");
    }
    for moment in [
        Moment::AtOnce,
        Moment::BeforeFirstEvent,
        Moment::AfterFirstEvent,
    ] {
        assert_eq!(verdict(&Failure::new("no"), moment), Failed);
    }
    // O-B09: a door that is shut for so long. An agent's own failure has a task.
    let shut = Failure::with_code(FailureCode::UNAVAILABLE, "no").retry_after(Duration::ZERO);
    assert_eq!(verdict(&shut, Moment::AtOnce), Refused(Unavailable));
    assert_eq!(verdict(&shut, Moment::BeforeFirstEvent), Rejected);
    assert_eq!(verdict(&shut, Moment::AfterFirstEvent), Failed);
}
