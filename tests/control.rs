//! The inbox: what steers a run reaches it, and nothing is accepted in vain.

use portcullis::{Inbox, InboxSender, Prompt, RefusalCode, Scope, inbox};
use tokio_test::{assert_pending, assert_ready, task};

#[test]
fn nothing_is_accepted_before_an_engine_takes_the_inbox() {
    let mut scope = Scope::new("s");
    let (sender, inbox) = inbox(4);
    InboxSender::offer(inbox, &mut scope);
    assert!(!sender.is_taken());
    let refusal = sender
        .send(Prompt::text("a"))
        .expect_err("nobody would read it");
    assert_eq!(refusal.code(), RefusalCode::Unsupported);

    // A retry shares the scope: only one run can hold the inbox.
    let retry = scope.clone();
    let mut taken = Inbox::take(&scope).expect("offered");
    assert!(Inbox::take(&retry).is_none());
    sender.send(Prompt::text("a")).expect("taken");
    assert_eq!(taken.try_next(), Some(Prompt::text("a")));

    drop(taken);
    assert!(!sender.is_taken());
    assert!(sender.send(Prompt::text("b")).is_err());
}

#[test]
fn it_is_bounded() {
    let mut scope = Scope::new("s");
    let (sender, inbox) = inbox(2);
    InboxSender::offer(inbox, &mut scope);
    let _taken = Inbox::take(&scope).expect("offered");
    sender.send(Prompt::text("a")).expect("room");
    sender.send(Prompt::text("b")).expect("room");
    let refusal = sender.send(Prompt::text("c")).expect_err("full");
    assert_eq!(refusal.code(), RefusalCode::QueueFull);
    assert_eq!(sender.waiting(), 2);
}

#[test]
fn a_waiting_engine_is_woken_and_told_the_end() {
    let mut scope = Scope::new("s");
    let (sender, inbox) = inbox(2);
    InboxSender::offer(inbox, &mut scope);
    let mut taken = Inbox::take(&scope).expect("offered");
    {
        let mut next = task::spawn(taken.next());
        assert_pending!(next.poll());
        sender.send(Prompt::text("a")).expect("room");
        assert!(next.is_woken());
        assert_eq!(assert_ready!(next.poll()), Some(Prompt::text("a")));
    }
    let mut next = task::spawn(taken.next());
    assert_pending!(next.poll());
    drop(sender);
    assert!(next.is_woken());
    assert_eq!(assert_ready!(next.poll()), None);
}
