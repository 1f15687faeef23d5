use std::{fmt, io};

use clap::ValueEnum;
use jiff::Timestamp;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    EnvFilter,
    fmt::{
        FmtContext, FormatEvent, FormatFields, FormattedFields,
        format::{Writer, debug_fn},
    },
    registry::LookupSpan,
};

use crate::plain::push_plain;

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// For a terminal: a short line each.
    Text,
    /// For programs: a JSON object a line, with everything that is known of the turn.
    Json,
}

/// The field of a span that a line shows: whose turn it is.
const SESSION: &str = "gen_ai.conversation.id";

/// Writes the log to standard error, as `RUST_LOG` has it.
pub(crate) fn start(form: LogForm) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_env_filter(filter);
    match form {
        LogForm::Json => log.json().with_span_list(false).init(),
        LogForm::Text => log
            .fmt_fields(debug_fn(|out, field, value| {
                if field.name() == SESSION {
                    write!(out, "session={value:?}")?;
                }
                Ok(())
            }))
            .event_format(Line)
            .init(),
    }
}

/// Time, level, message, fields, session. The fields of spans would make several lines of it.
struct Line;

impl<S, N> FormatEvent<S, N> for Line
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        cx: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let time = Timestamp::now().strftime("%H:%M:%SZ");
        write!(out, "{time} {:>5}", event.metadata().level().as_str())?;
        let mut fields = Fields::default();
        event.record(&mut fields);
        write!(out, " {}{}", fields.message, fields.rest)?;
        for span in cx.event_scope().into_iter().flatten() {
            if let Some(shown) = span.extensions().get::<FormattedFields<N>>()
                && !shown.trim().is_empty()
            {
                write!(out, " {}", shown.trim())?;
            }
        }
        writeln!(out)
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Fields {
    fn add(&mut self, field: &Field, shown: &str) {
        self.rest.push(' ');
        self.rest.push_str(field.name());
        self.rest.push('=');
        push_plain(&mut self.rest, shown);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let shown = format!("{value:?}");
        if field.name() == "message" {
            push_plain(&mut self.message, &shown);
        } else {
            self.add(field, &shown);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // A word as it is; what could be taken for more than one field, in quotes.
        if value
            .chars()
            .all(|c| c.is_ascii_graphic() && !matches!(c, '=' | '"'))
        {
            self.add(field, value);
        } else {
            self.record_debug(field, &value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics with it").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_others_write_stays_on_its_line() {
        let written = Written::default();
        let writer = written.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(move || writer.clone())
            .event_format(Line)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let error = "no\n12:00:00Z  INFO turn ended\u{1b}[2J";
            tracing::warn!(%error, word = "a", words = "b c=d", "it said {error}");
        });
        let text = written.0.lock().expect("nobody panics with it").clone();
        let text = String::from_utf8(text).expect("text");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.contains(r#" WARN it said no\n12"#), "{text}");
        assert!(text.contains(r#" word=a words="b c=d""#), "{text}");
    }
}
