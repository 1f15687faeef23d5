//! The program `portcullis`.

use std::process::ExitCode;

fn main() -> ExitCode {
    portcullis_cli::run()
}
