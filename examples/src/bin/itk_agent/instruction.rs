//! What an agent of the kit is told to do: `itk.Instruction` of its `instruction.proto`.

use portcullis_a2a::model::{Message, Part, PartContent};
use prost::Message as _;

pub(crate) const MEDIA_TYPE: &str = "application/x-protobuf";
const FILE_NAME: &str = "instruction.bin";

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Instruction {
    #[prost(oneof = "Step", tags = "1, 2, 3")]
    pub(crate) step: Option<Step>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Step {
    #[prost(message, tag = "1")]
    CallAgent(Box<CallAgent>),
    #[prost(message, tag = "2")]
    ReturnResponse(ReturnResponse),
    #[prost(message, tag = "3")]
    Steps(SeriesOfSteps),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CallAgent {
    #[prost(string, tag = "1")]
    pub(crate) transport: String,
    /// Where the card of the agent is.
    #[prost(string, tag = "2")]
    pub(crate) agent_card_uri: String,
    /// What that agent is told.
    #[prost(message, optional, boxed, tag = "3")]
    pub(crate) instruction: Option<Box<Instruction>>,
    #[prost(bool, tag = "4")]
    pub(crate) streaming: bool,
    #[prost(oneof = "Behavior", tags = "5, 6, 7")]
    pub(crate) behavior: Option<Behavior>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Behavior {
    #[prost(message, tag = "5")]
    SendMessage(Nothing),
    #[prost(message, tag = "6")]
    PushNotification(Webhook),
    #[prost(message, tag = "7")]
    Resubscribe(Nothing),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Nothing {}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Webhook {
    #[prost(string, tag = "1")]
    pub(crate) url: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReturnResponse {
    #[prost(string, tag = "1")]
    pub(crate) response: String,
    /// The task works on for a while after that.
    #[prost(bool, tag = "2")]
    pub(crate) hold_task: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SeriesOfSteps {
    #[prost(message, repeated, tag = "1")]
    pub(crate) instructions: Vec<Instruction>,
    #[prost(int32, tag = "2")]
    pub(crate) response_generator: i32,
}

impl Instruction {
    /// The first part that is one: bytes by their type or name, or text in base64.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        message.parts.iter().find_map(|part| {
            let bytes = match &part.content {
                PartContent::Raw(bytes)
                    if part.media_type == MEDIA_TYPE || part.filename == FILE_NAME =>
                {
                    bytes.to_vec()
                }
                PartContent::Text(text) => Part::decode_base64(text)?,
                _ => return None,
            };
            Self::decode(&bytes[..]).ok()
        })
    }

    pub(crate) fn to_part(&self) -> Part {
        Part::raw(self.encode_to_vec())
            .with_media_type(MEDIA_TYPE)
            .with_filename(FILE_NAME)
    }

    /// Whether the task that follows this is held.
    pub(crate) fn holds(&self) -> bool {
        match &self.step {
            Some(Step::ReturnResponse(response)) => response.hold_task,
            Some(Step::Steps(series)) => series.instructions.iter().any(Self::holds),
            Some(Step::CallAgent(_)) | None => false,
        }
    }
}
