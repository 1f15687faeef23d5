use serde::{Serialize, Serializer};

/// The two JSON forms that version 0.3 has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Of JSON-RPC: members named `kind` tell objects apart.
    JsonRpc,
    /// Of HTTP+JSON: ProtoJSON of the proto file of 0.3.
    Proto,
}

impl Form {
    /// A value of the model, as this form writes it.
    pub(crate) const fn write<T: ?Sized>(self, value: &T) -> Written<'_, T> {
        Written { form: self, value }
    }
}

/// A value of the model that is written in a form of version 0.3.
#[derive(Debug)]
pub(crate) struct Written<'a, T: ?Sized> {
    pub(super) form: Form,
    pub(super) value: &'a T,
}

impl<T> Serialize for Written<'_, [T]>
where
    for<'a> Written<'a, T>: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.value.iter().map(|item| self.form.write(item)))
    }
}
