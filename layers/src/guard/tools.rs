/// What happens to a tool that is not allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// The event is not shown, and the turn fails with `permission_denied`.
    #[default]
    Fail,
    /// The event goes on with a member `"denied": true`, for whoever reads the stream.
    Mark,
}

/// Which tools are allowed.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools {
    /// `None`: all. An empty list: none.
    pub(super) allowed: Option<Vec<String>>,
    pub(super) denied: Vec<String>,
    pub(super) then: Denied,
}

impl Tools {
    pub(super) const fn is_empty(&self) -> bool {
        self.allowed.is_none() && self.denied.is_empty()
    }

    pub(super) fn allows(&self, tool: &str) -> bool {
        let is_in = |list: &[String]| list.iter().any(|name| fits(name, tool));
        !is_in(&self.denied) && self.allowed.as_deref().is_none_or(is_in)
    }
}

/// Whether a name fits one that may have `*` for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((begin, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(begin) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The first place is as good as any: the star behind it takes what is left.
    for part in middle.split('*') {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars() {
        for (pattern, name, expected) in [
            ("rm", "rm", true),
            ("rm", "rmdir", false),
            ("", "", true),
            ("*", "", true),
            ("*", "x", true),
            ("mcp__*", "mcp__a", true),
            ("mcp__*", "a_mcp__", false),
            ("*_write", "file_write", true),
            ("*_write", "file_write_all", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "a-bb-c", true),
            ("a*b*c", "acb", false),
            ("ab*ba", "aba", false),
            ("a*a", "a", false),
            ("é*", "éa", true),
            ("**x", "ax", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }
}
