use super::{Metadata, Part};

message! {
    /// A result of a task.
    Artifact {
        /// Unique within the task.
        artifact_id: String = "artifactId" | "artifact_id" as Id, required;
        /// A name for people.
        name: String = "name";
        /// What it is, for people.
        description: String = "description";
        /// What it holds: at least one part.
        parts: Vec<Part> = "parts", required;
        /// Data of extensions.
        metadata: Metadata = "metadata";
        /// The URIs of the extensions that it uses.
        extensions: Vec<String> = "extensions";
    }
}

impl Artifact {
    /// An artifact of parts.
    #[must_use]
    pub fn new(artifact_id: impl Into<String>, parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            artifact_id: artifact_id.into(),
            parts: parts.into_iter().collect(),
            ..Self::blank()
        }
    }

    /// An artifact that is one text.
    #[must_use]
    pub fn text(artifact_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(artifact_id, [Part::text(text)])
    }

    /// With a name for people.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
}
