use std::{
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{ambient_authority, fs::Dir};

use super::{FileError, Limits, TextFile, Walk, open::open, walk::ignored};

/// The one directory that the agent knows. It is held open, and each path is resolved
/// below it by the kernel or component by component, so that neither `..` nor a link
/// leads out, even if somebody changes the tree meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    dir: Arc<Dir>,
    limits: Arc<Limits>,
}

/// What a path turned out to be.
#[derive(Debug)]
pub(crate) enum Place {
    File(TextFile),
    Directory(Walk),
}

impl Root {
    pub(crate) fn open(path: &Path, limits: Limits) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self {
            dir: Arc::new(dir),
            limits: Arc::new(limits),
        })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Looks a path up. No path is the directory itself.
    pub(crate) fn place(&self, path: Option<&str>) -> Result<Place, FileError> {
        let Some(path) = path else {
            return self
                .walk_from(&self.dir, PathBuf::new())
                .map(Place::Directory);
        };
        let resolved = self.resolve(path)?;
        if resolved.as_os_str().is_empty() {
            return self
                .walk_from(&self.dir, PathBuf::new())
                .map(Place::Directory);
        }
        let metadata = self
            .dir
            .metadata(&resolved)
            .map_err(|error| FileError::from_io(path, error))?;
        if metadata.is_dir() {
            let dir = self
                .dir
                .open_dir(&resolved)
                .map_err(|error| FileError::from_io(path, error))?;
            return self.walk_from(&dir, resolved).map(Place::Directory);
        }
        let file =
            open(&self.dir, &resolved, true).map_err(|error| FileError::from_io(path, error))?;
        TextFile::new(file, path, &self.limits).map(Place::File)
    }

    pub(crate) fn file(&self, path: &str) -> Result<TextFile, FileError> {
        match self.place(Some(path))? {
            Place::File(file) => Ok(file),
            Place::Directory(_) => Err(FileError::NotAFile(path.to_owned())),
        }
    }

    fn walk_from(&self, dir: &Dir, shown: PathBuf) -> Result<Walk, FileError> {
        let name = shown.display().to_string();
        let dir = dir
            .try_clone()
            .map_err(|error| FileError::from_io(&name, error))?;
        Walk::new(dir, shown, Arc::clone(&self.limits))
    }

    /// Follows the links of a path that stay inside, so that nothing ignored is reached
    /// by another name.
    fn resolve(&self, path: &str) -> Result<PathBuf, FileError> {
        let outside = || FileError::Outside(path.to_owned());
        if path.contains('\0') {
            return Err(outside());
        }
        let mut plain = PathBuf::new();
        for component in Path::new(path).components() {
            match component {
                Component::Normal(name) => plain.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(outside());
                }
            }
        }
        if plain.as_os_str().is_empty() {
            return Ok(plain);
        }
        // Before the look-up: whether a hidden file exists is nobody's business.
        refuse_ignored(path, &plain)?;
        let resolved = self
            .dir
            .canonicalize(&plain)
            .map_err(|error| FileError::from_io(path, error))?;
        refuse_ignored(path, &resolved)?;
        Ok(resolved)
    }
}

fn refuse_ignored(path: &str, plain: &Path) -> Result<(), FileError> {
    if plain.iter().any(ignored) {
        return Err(FileError::Ignored(path.to_owned()));
    }
    Ok(())
}
