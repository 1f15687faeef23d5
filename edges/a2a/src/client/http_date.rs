use jiff::{Timestamp, civil, fmt::rfc2822, tz::TimeZone};

/// The three forms that a reader has to know (RFC 9110, section 5.6.7).
pub(super) fn http_date(text: &str) -> Option<Timestamp> {
    if let Ok(date) = rfc2822::DateTimeParser::new().parse_timestamp(text) {
        return Some(date);
    }
    let old = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];
    let date = old
        .iter()
        .find_map(|form| civil::DateTime::strptime(form, text).ok())?;
    TimeZone::UTC.to_timestamp(date).ok()
}
