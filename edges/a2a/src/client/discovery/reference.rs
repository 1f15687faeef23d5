use http::Uri;

/// The address that a card at `base` means: an absolute one as it is, a relative one as a browser
/// takes a link (RFC 3986, section 5.2).
pub(super) fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.split('#').next().unwrap_or_default();
    if reference.contains("://") {
        return reference.parse().ok();
    }
    let scheme = base.scheme_str()?;
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{scheme}://{rest}").parse().ok();
    }
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    // Another scheme, as in `mailto:`.
    if path
        .split('/')
        .next()
        .is_some_and(|first| first.contains(':'))
    {
        return None;
    }
    let path = if path.is_empty() {
        base.path().to_owned()
    } else if path.starts_with('/') {
        path.to_owned()
    } else {
        let folder = base
            .path()
            .rfind('/')
            .map_or("/", |end| &base.path()[..=end]);
        format!("{folder}{path}")
    };
    let path = without_dots(&path);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    Uri::builder()
        .scheme(scheme)
        .authority(base.authority()?.clone())
        .path_and_query(format!("{path}{query}"))
        .build()
        .ok()
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_and_relative() {
        let base = "https://h:1/a/b/.well-known/agent-card.json?x=1";
        let base: Uri = base.parse().unwrap();
        for (reference, expected) in [
            ("https://other/x//y?z#w", "https://other/x//y?z"),
            ("//other:2/x", "https://other:2/x"),
            ("/rpc", "https://h:1/rpc"),
            ("/rpc?k=v", "https://h:1/rpc?k=v"),
            ("rpc", "https://h:1/a/b/.well-known/rpc"),
            ("./rpc/", "https://h:1/a/b/.well-known/rpc/"),
            ("../rpc", "https://h:1/a/b/rpc"),
            ("../../../../../rpc", "https://h:1/rpc"),
            ("..", "https://h:1/a/b/"),
            ("/a/./b/../c", "https://h:1/a/c"),
            ("", "https://h:1/a/b/.well-known/agent-card.json"),
        ] {
            let resolved = resolve(&base, reference).map(|uri| uri.to_string());
            assert_eq!(resolved.as_deref(), Some(expected), "{reference}");
        }
        for reference in ["mailto:a@b", "h:50051", "javascript:1", "/a b", "https://"] {
            assert_eq!(resolve(&base, reference), None, "{reference}");
        }
    }
}
