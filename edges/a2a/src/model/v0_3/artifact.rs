use serde::{Serialize, Serializer, ser::SerializeMap};

use super::Written;
use crate::model::Artifact;

impl Serialize for Written<'_, Artifact> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let artifact = self.value;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("artifactId", &artifact.artifact_id)?;
        if !artifact.name.is_empty() {
            object.serialize_entry("name", &artifact.name)?;
        }
        if !artifact.description.is_empty() {
            object.serialize_entry("description", &artifact.description)?;
        }
        object.serialize_entry("parts", &self.form.write(&*artifact.parts))?;
        if !artifact.metadata.is_empty() {
            object.serialize_entry("metadata", &artifact.metadata)?;
        }
        if !artifact.extensions.is_empty() {
            object.serialize_entry("extensions", &artifact.extensions)?;
        }
        object.end()
    }
}
