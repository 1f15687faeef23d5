use portcullis::{Json, Prompt};

use super::Violation;

/// What a prompt for a repair is made of.
#[derive(Clone, Copy, Debug)]
pub struct Repair<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) schema: &'a Json,
    pub(super) data: Option<&'a Json>,
    pub(super) text: &'a str,
    pub(super) violations: &'a [Violation],
}

impl Repair<'_> {
    /// What was asked in the first place.
    #[must_use]
    pub const fn prompt(&self) -> &Prompt {
        self.prompt
    }

    /// The schema that was asked for.
    #[must_use]
    pub const fn schema(&self) -> &Json {
        self.schema
    }

    /// The data that does not fit, if there was any.
    #[must_use]
    pub const fn data(&self) -> Option<&Json> {
        self.data
    }

    /// The text of the run that is repaired, which nobody has seen.
    #[must_use]
    pub const fn text(&self) -> &str {
        self.text
    }

    /// What is wrong.
    #[must_use]
    pub const fn violations(&self) -> &[Violation] {
        self.violations
    }

    /// The prompt, unless somebody makes another one: what was asked, images included; what came; what is wrong with it; and the schema.
    #[must_use]
    pub fn to_prompt(&self) -> Prompt {
        /// How much of an answer is repeated.
        const ANSWER: usize = 16 << 10;
        let answer = self.data.map_or(self.text, Json::as_str);
        let answer = &answer[..answer.floor_char_boundary(ANSWER)];
        let mut prompt = self.prompt.clone();
        let text = prompt.text_mut();
        text.push_str(
            "\n\n---\nYour last answer to this did not have the form that was asked for.\n",
        );
        if answer.is_empty() {
            text.push_str("It had no data.\n");
        } else {
            text.push_str("It was:\n");
            text.push_str(answer);
            text.push('\n');
        }
        text.push_str("What is wrong with it:\n");
        for violation in self.violations {
            text.push_str("- ");
            text.push_str(&violation.to_string());
            text.push('\n');
        }
        text.push_str("Answer again, with data that fits this JSON Schema:\n");
        text.push_str(self.schema.as_str());
        prompt
    }
}
