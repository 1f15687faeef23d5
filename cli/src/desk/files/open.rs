use std::io;

use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

/// Opens for reading without ever waiting: a named pipe opens at once and is then found
/// to be no file.
pub(super) fn open(dir: &Dir, path: impl AsRef<std::path::Path>, follow: bool) -> io::Result<File> {
    let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits() as i32);
    dir.open_with(path, &options)
}
