use jiff::{
    Timestamp, ToSpan, Unit,
    civil::{Date, DateTime},
    tz::TimeZone,
};

/// A day as somebody names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Day {
    Today,
    Tomorrow,
    Yesterday,
    On(Date),
}

/// A question about the calendar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Today,
    Time,
    Weekday(Day),
    /// Days from the first to the second.
    Between(Day, Day),
    Shift {
        from: Day,
        count: i64,
        step: Step,
    },
    LeapYear(i16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Days,
    Weeks,
    Months,
    Years,
}

impl Question {
    /// What is asked, in a word.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Time => "time",
            Self::Weekday(_) => "weekday",
            Self::Between(..) => "days between",
            Self::Shift { .. } => "date",
            Self::LeapYear(_) => "leap year",
        }
    }
}

/// What the calendar says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) sentence: String,
    pub(crate) value: serde_json::Value,
    /// A number that "that" may refer to.
    pub(crate) number: Option<i64>,
}

/// The current time in UTC: the agent may be far from whoever asks.
pub(crate) fn now() -> DateTime {
    TimeZone::UTC.to_datetime(Timestamp::now())
}

/// Answers a question. Nothing when the result lies outside the years that the calendar
/// knows, -9999 to 9999.
pub(crate) fn answer(question: &Question, now: DateTime) -> Option<Reply> {
    let today = now.date();
    let resolve = |day: &Day| match day {
        Day::Today => Some(today),
        Day::Tomorrow => today.tomorrow().ok(),
        Day::Yesterday => today.yesterday().ok(),
        Day::On(date) => Some(*date),
    };
    let reply = match question {
        Question::Today => Reply {
            sentence: format!("Today is {} (UTC).", long(today)),
            value: today.to_string().into(),
            number: None,
        },
        Question::Time => Reply {
            sentence: format!("It is {} UTC.", now.strftime("%H:%M:%S")),
            value: now.strftime("%H:%M:%S").to_string().into(),
            number: None,
        },
        Question::Weekday(day) => {
            let date = resolve(day)?;
            Reply {
                sentence: format!("{date} is a {}.", date.strftime("%A")),
                value: date.strftime("%A").to_string().into(),
                number: None,
            }
        }
        Question::Between(first, second) => {
            let (first, second) = (resolve(first)?, resolve(second)?);
            let days = first.until((Unit::Day, second)).ok()?.get_days();
            Reply {
                sentence: format!(
                    "From {first} to {second} it is {days} {}.",
                    if days.abs() == 1 { "day" } else { "days" }
                ),
                value: days.into(),
                number: Some(days.into()),
            }
        }
        Question::Shift { from, count, step } => {
            let span = match step {
                Step::Days => 0.days().try_days(*count),
                Step::Weeks => 0.weeks().try_weeks(*count),
                Step::Months => 0.months().try_months(*count),
                Step::Years => 0.years().try_years(*count),
            };
            let date = resolve(from)?.checked_add(span.ok()?).ok()?;
            Reply {
                sentence: format!("That is {}.", long(date)),
                value: date.to_string().into(),
                number: None,
            }
        }
        Question::LeapYear(year) => {
            let date = Date::new(*year, 1, 1).ok()?;
            let is = date.in_leap_year();
            Reply {
                sentence: format!("{year} is {}a leap year.", if is { "" } else { "not " }),
                value: is.into(),
                number: None,
            }
        }
    };
    Some(reply)
}

fn long(date: Date) -> String {
    format!("{}, {date}", date.strftime("%A"))
}

/// Reads a day: `2026-12-24`, `today`, `24 December 2026`, `December 24 2026`.
pub(crate) fn day(words: &[&str]) -> Option<Day> {
    match words {
        ["today" | "now"] => return Some(Day::Today),
        ["tomorrow"] => return Some(Day::Tomorrow),
        ["yesterday"] => return Some(Day::Yesterday),
        ["the", rest @ ..] => return day(rest),
        [date] => {
            let iso = date.len() == 10 && date.bytes().filter(|byte| *byte == b'-').count() == 2;
            return iso.then(|| date.parse().ok()).flatten().map(Day::On);
        }
        _ => {}
    }
    let (date, month, year) = match words {
        [date, "of", month, year] => (date, month, year),
        [first, second, year] if first.starts_with(|c: char| c.is_ascii_digit()) => {
            (first, second, year)
        }
        [first, second, year] => (second, first, year),
        _ => return None,
    };
    let date = date.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ',');
    let month = MONTHS
        .iter()
        .position(|name| month.len() >= 3 && name.starts_with(*month))?;
    let month = i8::try_from(month + 1).ok()?;
    let date = Date::new(year.parse().ok()?, month, date.parse().ok()?).ok()?;
    Some(Day::On(date))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
