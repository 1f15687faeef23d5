use std::{fs, path::Path};

use portcullis::{AgentEvent, BoxAgent, Emitter, agent_fn};
use portcullis_cli::{desk::Desk, exec::Exec};

/// A directory with something to count, and something that must not be shown.
pub(crate) fn directory(at: &Path) -> std::io::Result<()> {
    for number in 0..30 {
        fs::write(at.join(format!("file{number:02}.rs")), "fn main() {}\n")?;
    }
    fs::write(at.join("people.txt"), "ann 078-05-1120\n")
}

pub(crate) fn desk(at: &Path) -> std::io::Result<BoxAgent> {
    Ok(Desk::open(at)?.agent())
}

/// A program that does what its input says; it remembers in files how often it was asked.
pub(crate) fn exec(at: &Path) -> BoxAgent {
    Exec::new("sh", ["-c", SCRIPT]).in_dir(at).agent()
}

const SCRIPT: &str = r#"
all=$(cat)
case "$all" in
  secret) echo "the number is 078-05-1120" ;;
  slow) sleep 60 ;;
  flaky)
    if [ -e tried ]; then echo "this time it worked"; else
      : > tried
      echo '{"type":"failed","details":"the model is busy","retryable":true}'
    fi ;;
  down) echo '{"type":"failed","details":"the model is down","retryable":true}' ;;
  prose) echo "no JSON at all" ;;
  *JSON*|json) echo '{"n": 1}' ;;
  *) printf '%s\n' "$all" ;;
esac
"#;

/// Who answers when the first engine cannot.
pub(crate) fn stand_in() -> BoxAgent {
    BoxAgent::new(agent_fn(async |_scope, _prompt, out: Emitter| {
        out.emit(AgentEvent::text("I stand in for it.")).await;
        Ok(())
    }))
}

/// One with a bug.
pub(crate) fn broken() -> BoxAgent {
    BoxAgent::new(agent_fn(
        async |_scope, _prompt, _out| -> Result<(), portcullis::Failure> {
            panic!("a bug in the engine")
        },
    ))
}
