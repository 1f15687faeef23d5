use crate::json::{DecodeError, Json, Member, Writer};

/// What a member of a view may be.
pub(super) trait Field: Sized {
    fn read(member: &Member<'_>) -> Result<Self, DecodeError>;
    fn write(&self, name: &'static str, members: &mut Writer<'_, String>);
}

impl Field for String {
    fn read(member: &Member<'_>) -> Result<Self, DecodeError> {
        member.string().map(Into::into)
    }

    fn write(&self, name: &'static str, members: &mut Writer<'_, String>) {
        members.string(name, self);
    }
}

impl Field for u64 {
    fn read(member: &Member<'_>) -> Result<Self, DecodeError> {
        member
            .digits()
            .ok_or_else(|| member.wrong("a whole number"))
    }

    fn write(&self, name: &'static str, members: &mut Writer<'_, String>) {
        members.u64(name, *self);
    }
}

impl Field for bool {
    fn read(member: &Member<'_>) -> Result<Self, DecodeError> {
        member.bool()
    }

    fn write(&self, name: &'static str, members: &mut Writer<'_, String>) {
        members.bool(name, *self);
    }
}

impl Field for Json {
    fn read(member: &Member<'_>) -> Result<Self, DecodeError> {
        Ok(member.json())
    }

    fn write(&self, name: &'static str, members: &mut Writer<'_, String>) {
        members.raw(name, self.as_str());
    }
}
