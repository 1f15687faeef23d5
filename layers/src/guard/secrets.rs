/// What common secrets look like. All are bounded, and begin with something that ordinary
/// text hardly has.
pub(super) const SECRETS: [&str; 7] = [
    // AWS access key ids.
    r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
    // GitHub tokens.
    r"(?-u:\b)(?:gh[opusr]_[0-9A-Za-z]{36,255}|github_pat_[0-9A-Za-z_]{22,255})",
    // Slack tokens.
    r"(?-u:\b)xox[abeoprs]-[0-9A-Za-z-]{10,250}",
    // `sk-…` keys of OpenAI, Anthropic and others; `sk_live_…` of Stripe.
    r"(?-u:\b)(?:sk-[0-9A-Za-z_-]{20,250}|[rs]k_(?:live|test)_[0-9A-Za-z]{16,250})",
    // Bearer tokens.
    r"(?-u:\b)[Bb]earer {1,4}[0-9A-Za-z._~+/-]{16,2048}={0,2}",
    // JSON Web Tokens.
    r"(?-u:\b)eyJ[0-9A-Za-z_-]{8,2048}\.eyJ[0-9A-Za-z_-]{8,4096}\.[0-9A-Za-z_-]{8,2048}",
    // Private keys in PEM, of at most 8 KiB.
    r"-----BEGIN [A-Z ]{0,24}PRIVATE KEY-----[0-9A-Za-z+/=\r\n\\,:. -]{1,8192}?-----END [A-Z ]{0,24}PRIVATE KEY-----",
];
