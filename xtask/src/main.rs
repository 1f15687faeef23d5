//! Makes the code that is generated and checked in.
//!
//! `cargo run -p xtask -- generate` writes it, `cargo run -p xtask -- check` says whether what is
//! checked in is what would be written. Neither needs anything that is not a crate.

mod proto;

use std::{env, error::Error, fs, path::Path, process::ExitCode};

fn main() -> ExitCode {
    let task = env::args().nth(1).unwrap_or_default();
    let done = match task.as_str() {
        "generate" => generate(),
        "check" => check(),
        _ => Err("usage: cargo run -p xtask -- generate|check".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Box<dyn Error>> {
    let to = repository().join(proto::GENERATED);
    fs::create_dir_all(&to)?;
    for (name, text) in proto::generate(repository())? {
        fs::write(to.join(name), text)?;
    }
    Ok(())
}

fn check() -> Result<(), Box<dyn Error>> {
    let at = repository().join(proto::GENERATED);
    let fresh = proto::generate(repository())?;
    for (name, text) in &fresh {
        if fs::read(at.join(name)).ok().as_deref() != Some(text) {
            return Err(format!(
                "{}/{name} is stale: run `cargo run -p xtask -- generate`",
                proto::GENERATED
            )
            .into());
        }
    }
    for entry in fs::read_dir(&at)? {
        let name = entry?.file_name();
        if !fresh.iter().any(|(fresh, _)| **fresh == name) {
            return Err(format!("{name:?} in {} is made by nothing", proto::GENERATED).into());
        }
    }
    Ok(())
}

fn repository() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("the member is in the repository")
}

#[expect(
    clippy::print_stderr,
    reason = "a program for the people who work here"
)]
fn say(text: &str) {
    eprintln!("{text}");
}
