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

/// What a session layer does when a run ends: nobody sends into what is closed, and what was not
/// read comes back.
#[test]
fn a_closed_inbox_gives_back_what_nobody_read() {
    let mut scope = Scope::new("s");
    let (sender, inbox) = inbox(4);
    InboxSender::offer(inbox, &mut scope);
    let mut taken = Inbox::take(&scope).expect("offered");
    for text in ["a", "b", "c"] {
        sender.send(Prompt::text(text)).expect("room");
    }
    assert_eq!(taken.try_next(), Some(Prompt::text("a")));
    assert_eq!(sender.close(), [Prompt::text("b"), Prompt::text("c")]);
    assert_eq!(taken.try_next(), None);
    let refusal = sender.send(Prompt::text("d")).expect_err("closed");
    assert_eq!(refusal.code(), RefusalCode::NotRunning);
    assert!(sender.close().is_empty());
}

/// For a sender that holds a lock.
#[test]
fn who_puts_says_whom_to_wake() {
    let mut scope = Scope::new("s");
    let (sender, inbox) = inbox(2);
    InboxSender::offer(inbox, &mut scope);
    let mut taken = Inbox::take(&scope).expect("offered");
    assert!(sender.put(Prompt::text("a")).expect("room").is_none());
    assert_eq!(taken.try_next(), Some(Prompt::text("a")));
    let mut next = task::spawn(taken.next());
    assert_pending!(next.poll());
    let reader = sender.put(Prompt::text("b")).expect("room");
    assert!(!next.is_woken());
    reader.expect("it waits").wake();
    assert!(next.is_woken());
    assert_eq!(assert_ready!(next.poll()), Some(Prompt::text("b")));
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
