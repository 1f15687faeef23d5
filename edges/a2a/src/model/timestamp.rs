use std::{
    error::Error,
    fmt,
    str::FromStr,
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::decode::{self, Context, Read, Wire};

/// A moment in UTC, between the years 1 and 9999. Written with three fraction digits.
///
/// ```
/// use portcullis_a2a::model::Timestamp;
///
/// let time: Timestamp = "2026-01-15T11:00:00+01:00".parse()?;
/// assert_eq!(time.to_string(), "2026-01-15T10:00:00.000Z");
/// # Ok::<(), portcullis_a2a::model::InvalidTimestamp>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// Now, by the clock of the system, in whole milliseconds.
    #[must_use]
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// Milliseconds since 1970, the nearest that there is.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "clamped to what there is")]
    pub fn from_unix_millis(millis: i64) -> Self {
        let millis = millis.clamp(FIRST_MILLIS, LAST_MILLIS);
        Self(jiff::Timestamp::from_millisecond(millis).expect("clamped to years 1 to 9999"))
    }

    /// Milliseconds since 1970, rounded down.
    #[must_use]
    pub fn unix_millis(self) -> i64 {
        self.0.as_nanosecond().div_euclid(1_000_000) as i64
    }
}

/// Whole milliseconds, so that a time that was written and read again is the same.
impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let millis = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            Err(before) => {
                i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |millis| -millis)
            }
        };
        Self::from_unix_millis(millis)
    }
}

impl From<Timestamp> for SystemTime {
    fn from(time: Timestamp) -> Self {
        let nanos = time.0.as_nanosecond();
        let distance = Duration::from_nanos_u128(nanos.unsigned_abs());
        if nanos < 0 {
            Self::UNIX_EPOCH - distance
        } else {
            Self::UNIX_EPOCH + distance
        }
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        if !is_rfc_3339(text.as_bytes()) {
            return Err(InvalidTimestamp(()));
        }
        let time: jiff::Timestamp = text.parse().map_err(|_| InvalidTimestamp(()))?;
        // Year 0 and before: jiff knows them, the protocol does not.
        if time.as_nanosecond() < i128::from(FIRST_MILLIS) * 1_000_000 {
            return Err(InvalidTimestamp(()));
        }
        Ok(Self(time))
    }
}

/// `jiff` takes more forms than the protocol has.
fn is_rfc_3339(text: &[u8]) -> bool {
    fn digits(text: &[u8]) -> bool {
        text.iter().all(u8::is_ascii_digit)
    }

    let Some((date_time, rest)) = text.split_at_checked(19) else {
        return false;
    };
    let shape = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    let fields = [0..4, 5..7, 8..10, 11..13, 14..16, 17..19];
    if !shape.iter().all(|(at, byte)| date_time[*at] == *byte)
        || !matches!(date_time[10], b'T' | b't')
        || !fields.into_iter().all(|field| digits(&date_time[field]))
    {
        return false;
    }
    let zone = match rest.strip_prefix(b".") {
        Some(fraction) => {
            let end = fraction
                .iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(fraction.len());
            if !(1..=9).contains(&end) {
                return false;
            }
            &fraction[end..]
        }
        None => rest,
    };
    match zone {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', hours @ .., b':', m1, m2] => {
            hours.len() == 2 && digits(hours) && digits(&[*m1, *m2])
        }
        _ => false,
    }
}

/// 0001-01-01T00:00:00Z.
const FIRST_MILLIS: i64 = -62_135_596_800_000;
/// 9999-12-30T22:00:00Z, the last that `jiff` has.
const LAST_MILLIS: i64 = 253_402_207_200_000;

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounds down: what is shown is never later than what is meant.
        let shown = Self::from_unix_millis(self.unix_millis());
        write!(f, "{:.3}", shown.0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::deserialize(deserializer)
    }
}

impl Wire for Timestamp {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        Ok(match String::read(cx, deserializer)? {
            Read::Value(text) => match text.parse() {
                Ok(time) => Read::Value(time),
                Err(invalid) => {
                    cx.violation(InvalidTimestamp::to_string(&invalid));
                    Read::Wrong
                }
            },
            Read::Unset => Read::Unset,
            Read::Wrong => Read::Wrong,
        })
    }
}

/// The text is no timestamp of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidTimestamp(());

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a time such as 2026-01-15T10:00:00.000Z")
    }
}

impl Error for InvalidTimestamp {}
