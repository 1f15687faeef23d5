/// Members that this version does not know, verbatim and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// `"name":value,"name":value` as it came in. One pointer, since hardly any
    /// object has such members.
    #[expect(clippy::box_collection, reason = "one pointer instead of three words")]
    text: Option<Box<String>>,
}

impl Extra {
    /// No such member.
    #[must_use]
    pub const fn new() -> Self {
        Self { text: None }
    }

    /// Whether there is no such member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.text.is_none()
    }
}
