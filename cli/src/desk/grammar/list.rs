use super::{
    Request, Subject,
    clause::Word,
    phrase::{Scope, after, are},
};

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    if are(words, &["what", "is", "here"]) || are(words, &["what", "is", "there"]) {
        return Some(Request::List {
            path: None,
            filter: None,
        });
    }
    let verb = after(
        words,
        &[
            &["list"],
            &["ls"],
            &["dir"],
            &["show"],
            &["show", "me"],
            &["find"],
            &["what"],
            &["which"],
            &["what", "is"],
            &["what", "does"],
            &["print"],
        ],
    )?;
    let said = words[0].is_any(&["list", "ls", "dir"]);
    let mut scope = Scope::default();
    let mut files = said;
    let mut rest = verb;
    while let Some(word) = rest.first() {
        let taken = if let Some(taken) = scope.take(rest) {
            files |= rest[0].is("in") || rest[0].is("inside");
            taken
        } else if word.is_any(&[
            "files",
            "file",
            "directories",
            "entries",
            "content",
            "contents",
        ]) {
            files = true;
            1
        } else if word.is_any(&[
            "the", "all", "every", "are", "is", "there", "of", "do", "does", "you", "have", "see",
            "me", "in", "names", "contain",
        ]) {
            1
        } else if said && rest.len() == 1 {
            let placed = [Word::preposition(), word.clone()];
            (scope.take(&placed) == Some(2)).then_some(1)?
        } else {
            return None;
        };
        rest = &rest[taken..];
    }
    if !files {
        return None;
    }
    let path = match scope.subject {
        Some(Subject::Path(path)) => Some(path),
        Some(Subject::That) => return None,
        Some(Subject::Everything) | None => None,
    };
    Some(Request::List {
        path,
        filter: scope.filter,
    })
}
