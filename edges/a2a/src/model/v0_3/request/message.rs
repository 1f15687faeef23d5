use super::{
    part::{OfProto, OfRpc, OldPart},
    role::Sender,
};
use crate::model::{Message, Metadata, Role, decode::Context};

message! {
    /// A message, as JSON-RPC has it.
    received RpcMessage {
        message_id: String = "messageId" | "message_id" as Id, required;
        context_id: String = "contextId" | "context_id" as Id;
        task_id: String = "taskId" | "task_id" as Id;
        role: Sender = "role", required;
        parts: Vec<OldPart<OfRpc>> = "parts", required;
        metadata: Metadata = "metadata";
        extensions: Vec<String> = "extensions";
        reference_task_ids: Vec<String> = "referenceTaskIds" | "reference_task_ids" as Id;
    }
    check RpcMessage::is_from_a_user;
}

message! {
    /// A message, as HTTP+JSON has it.
    received ProtoMessage {
        message_id: String = "messageId" | "message_id" as Id, required;
        context_id: String = "contextId" | "context_id" as Id;
        task_id: String = "taskId" | "task_id" as Id;
        role: Sender = "role", required;
        content: Vec<OldPart<OfProto>> = "content", required;
        metadata: Metadata = "metadata";
        extensions: Vec<String> = "extensions";
    }
    check ProtoMessage::is_from_a_user;
}

impl RpcMessage {
    fn is_from_a_user(&self, cx: &mut Context) {
        is_user(self.role, "must be user", cx);
    }
}

impl ProtoMessage {
    fn is_from_a_user(&self, cx: &mut Context) {
        is_user(self.role, "must be ROLE_USER", cx);
    }
}

/// Clients are users (A2A-OP-51).
fn is_user(sender: Sender, description: &str, cx: &mut Context) {
    if sender == Sender(Role::Agent) {
        cx.within("role", |cx| cx.violation(description));
    }
}

impl From<RpcMessage> for Message {
    fn from(old: RpcMessage) -> Self {
        let mut message = Self::user(old.message_id, old.parts.into_iter().map(|old| old.part));
        message.context_id = old.context_id;
        message.task_id = old.task_id;
        message.metadata = old.metadata;
        message.extensions = old.extensions;
        message.reference_task_ids = old.reference_task_ids;
        message
    }
}

impl From<ProtoMessage> for Message {
    fn from(old: ProtoMessage) -> Self {
        let parts = old.content.into_iter().map(|old| old.part);
        let mut message = Self::user(old.message_id, parts);
        message.context_id = old.context_id;
        message.task_id = old.task_id;
        message.metadata = old.metadata;
        message.extensions = old.extensions;
        message
    }
}
