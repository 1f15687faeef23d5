use std::{
    fs::OpenOptions,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    process::ExitCode,
};

use portcullis_layers::auth::{ApiKeys, NewApiKey};

use crate::{args::KeyArgs, complaint::Complaint};

/// Makes an API key: a line in the file, and the key on standard output, once.
pub(crate) fn run(args: &KeyArgs) -> Result<ExitCode, Complaint> {
    let key = NewApiKey::generate(&args.subject, &args.scopes)
        .map_err(|error| Complaint::usage(error.to_string()))?;
    append(&args.file, key.line()).map_err(|error| {
        Complaint::nothing_to_serve(format!("cannot write {}", args.file.display()), error)
    })?;
    // A server that has the file open takes nothing of one that makes no sense.
    ApiKeys::open(&args.file).map_err(|error| {
        Complaint::nothing_to_serve(
            format!("the line is in {}, but", args.file.display()),
            error,
        )
    })?;
    writeln!(io::stdout(), "{}", key.reveal())
        .map_err(|error| Complaint::nothing_to_serve("cannot print the key", error))?;
    Ok(ExitCode::SUCCESS)
}

/// One write, so that a server which reads meanwhile sees all of the line or nothing.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path)?;
    let mut text = format!("{line}\n");
    if file.metadata()?.len() > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.insert(0, '\n');
        }
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
