use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portcullis::Json;

use super::{InvalidSchema, Validator};

/// Schemas that were compiled, the last used in front.
pub(super) struct Cache<T> {
    most: usize,
    schemas: Mutex<VecDeque<(Json, Arc<T>)>>,
}

impl<T> Cache<T> {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            schemas: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Json, Arc<T>)>> {
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The compiled schema. It is compiled outside of the lock, perhaps twice at once.
    pub(super) fn compile(
        &self,
        validator: &impl Validator<Schema = T>,
        schema: &Json,
    ) -> Result<Arc<T>, InvalidSchema> {
        let known = {
            let mut schemas = self.lock();
            let place = schemas.iter().position(|(known, _)| known == schema);
            place.and_then(|place| schemas.remove(place))
        };
        let entry = match known {
            Some(entry) => entry,
            None => (schema.clone(), Arc::new(validator.compile(schema)?)),
        };
        let compiled = Arc::clone(&entry.1);
        let mut schemas = self.lock();
        schemas.push_front(entry);
        let kept = self.most.min(schemas.len());
        let dropped = schemas.split_off(kept);
        drop(schemas);
        drop(dropped);
        Ok(compiled)
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }
}

impl<T> fmt::Debug for Cache<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("schemas", &self.len())
            .finish_non_exhaustive()
    }
}
