use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{model::v0_3::Form, server};

/// An answer in one piece, in a form of 0.3.
#[derive(Debug)]
pub(in crate::binding) struct Answer {
    form: Form,
    answer: Box<server::Answer>,
}

impl Answer {
    pub(super) const fn new(form: Form, answer: Box<server::Answer>) -> Self {
        Self { form, answer }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = self.form;
        match &*self.answer {
            server::Answer::Sent(sent) => form.write(sent).serialize(serializer),
            server::Answer::Task(task) => form.write(task).serialize(serializer),
            server::Answer::Card(card) => form.write(card).serialize(serializer),
            server::Answer::PushConfig(config) => form.write(config).serialize(serializer),
            server::Answer::PushConfigs(page) => form.write(page).serialize(serializer),
            server::Answer::Deleted => match form {
                Form::JsonRpc => serializer.serialize_unit(),
                Form::Proto => serializer.serialize_map(Some(0))?.end(),
            },
            server::Answer::Tasks(_) => unreachable!("nothing of 0.3 asks for a list of tasks"),
        }
    }
}
