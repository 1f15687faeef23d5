use http::StatusCode;
use portcullis::{AgentEvent, Failure, FailureCode};
use portcullis_a2a::model::{
    AgentCard, ApiKeySecurityScheme, HttpAuthSecurityScheme, SecurityRequirement, SecurityScheme,
};
use portcullis_layers::auth::{ApiKeys, HttpAuthLayer, Refusal};
use serde_json::json;

/// The header that a key may come in, if not as a bearer token.
const KEY_HEADER: &str = "X-API-Key";

/// What stands in front of the bindings: everybody may read the card, whoever has a key may do
/// the rest.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    keys: ApiKeys,
    scopes: Vec<String>,
}

impl Guard {
    /// Lets in who has a key with all of these scopes.
    pub(crate) fn new(keys: ApiKeys, scopes: &[String]) -> Self {
        Self {
            keys,
            scopes: scopes.to_vec(),
        }
    }

    /// `turns` is the path of the plain edge.
    pub(crate) fn layer(self, turns: Option<String>) -> HttpAuthLayer<ApiKeys> {
        HttpAuthLayer::new(self.keys)
            .public("/.well-known/agent-card.json")
            .require_scopes(self.scopes)
            .refusal_body(move |refusal| {
                if turns.as_deref() == Some(refusal.path()) {
                    of_turns(refusal)
                } else {
                    of_a2a(refusal)
                }
            })
    }

    /// Says in the card how to present a key: either way is enough.
    pub(crate) fn declare(card: &mut AgentCard) {
        let bearer = HttpAuthSecurityScheme::bearer();
        let header = ApiKeySecurityScheme::header(KEY_HEADER);
        let schemes = [
            ("bearer", SecurityScheme::HttpAuth(bearer)),
            ("key", SecurityScheme::ApiKey(header)),
        ];
        for (name, scheme) in schemes {
            card.security_schemes.insert(name.to_owned(), scheme);
            let alone = SecurityRequirement::new().with(name, Vec::<String>::new());
            card.security_requirements.push(alone);
        }
    }
}

/// In the form that the callers of either binding read (A2A-RPC-35, A2A-REST-23).
fn of_a2a(refusal: &Refusal<'_>) -> String {
    let message = refusal.error().to_string();
    let body = if refusal.path().starts_with("/rest") {
        let status = match refusal.status() {
            StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
            StatusCode::FORBIDDEN => "PERMISSION_DENIED",
            StatusCode::SERVICE_UNAVAILABLE => "UNAVAILABLE",
            _ => "INVALID_ARGUMENT",
        };
        let code = refusal.status().as_u16();
        json!({"error": {"code": code, "status": status, "message": message, "details": []}})
    } else {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": message}})
    };
    body.to_string()
}

/// In the form of the other refusals of the plain edge.
fn of_turns(refusal: &Refusal<'_>) -> String {
    let status = refusal.status();
    let code = match status {
        StatusCode::UNAUTHORIZED => FailureCode::UNAUTHENTICATED,
        StatusCode::FORBIDDEN => FailureCode::PERMISSION_DENIED,
        _ => FailureCode::UNAVAILABLE,
    };
    let message = refusal.error().to_string();
    let event = AgentEvent::from(Failure::with_code(code, message.clone()));
    json!({
        "title": status.canonical_reason(), "status": status.as_u16(), "detail": message, "event": event,
    })
    .to_string()
}
