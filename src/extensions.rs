use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// Values by their type, for what travels with a turn inside one process.
///
/// Cloning is one reference count: a layer that invokes again shares the values.
#[derive(Clone, Default)]
pub struct Extensions {
    map: Option<Arc<HashMap<TypeId, Entry>>>,
}

#[derive(Clone)]
struct Entry {
    name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
}

impl Extensions {
    /// An empty map, which allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { map: None }
    }

    /// Sets the value of its type and returns whether one was there.
    pub fn insert<T: Any + Send + Sync>(&mut self, value: T) -> bool {
        let entry = Entry {
            name: type_name::<T>(),
            value: Arc::new(value),
        };
        let map = Arc::make_mut(self.map.get_or_insert_default());
        map.insert(TypeId::of::<T>(), entry).is_some()
    }

    /// The value of a type.
    #[must_use]
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.map
            .as_ref()?
            .get(&TypeId::of::<T>())?
            .value
            .downcast_ref()
    }

    /// Removes the value of a type, and returns whether one was there.
    pub fn remove<T: Any + Send + Sync>(&mut self) -> bool {
        match &mut self.map {
            Some(map) if map.contains_key(&TypeId::of::<T>()) => {
                Arc::make_mut(map).remove(&TypeId::of::<T>()).is_some()
            }
            _ => false,
        }
    }
}

/// Names the types only: a value may be a secret.
impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self
            .map
            .iter()
            .flat_map(|map| map.values())
            .map(|entry| entry.name);
        f.debug_set().entries(names).finish()
    }
}
