//! Which members of a card have presence, after section 1.3 of the protocol's model.

/// A message of the protocol, as far as its canonical form depends on it.
#[derive(Debug)]
pub(super) struct Message {
    /// Its members. What is not listed is not the protocol's, and stays as it is.
    members: &'static [Member],
}

/// A member of a message.
#[derive(Debug)]
pub(super) struct Member {
    name: &'static str,
    pub(super) presence: Presence,
    pub(super) content: Content,
}

/// When a member is part of the canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Whenever it is there: required ones, `optional` ones, messages.
    Given,
    /// When it is not what it would be if it were missing: `""`, `0`, `false`, `[]`, `{}`.
    NotDefault,
}

/// What is inside a member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Nothing with rules of its own: a scalar, a list of them, or a free object.
    Data,
    Message(&'static Message),
    List(&'static Message),
    /// Any names; the values are messages.
    Map(&'static Message),
}

use Content::{Data, List, Map};
use Presence::{Given, NotDefault};

impl Message {
    pub(super) fn member(&self, name: &str) -> Option<&'static Member> {
        self.members.iter().find(|member| member.name == name)
    }
}

const fn member(name: &'static str, presence: Presence, content: Content) -> Member {
    Member {
        name,
        presence,
        content,
    }
}

const fn given(name: &'static str) -> Member {
    member(name, Given, Data)
}

const fn set(name: &'static str) -> Member {
    member(name, NotDefault, Data)
}

const fn message(name: &'static str, of: &'static Message) -> Member {
    member(name, Given, Content::Message(of))
}

pub(super) static CARD: Message = Message {
    members: &[
        given("name"),
        given("description"),
        member("supportedInterfaces", Given, List(&INTERFACE)),
        message("provider", &PROVIDER),
        given("version"),
        given("documentationUrl"),
        message("capabilities", &CAPABILITIES),
        member("securitySchemes", NotDefault, Map(&SCHEME)),
        member("securityRequirements", NotDefault, List(&REQUIREMENT)),
        given("defaultInputModes"),
        given("defaultOutputModes"),
        member("skills", Given, List(&SKILL)),
        given("iconUrl"),
    ],
};

static INTERFACE: Message = Message {
    members: &[
        given("url"),
        given("protocolBinding"),
        set("tenant"),
        given("protocolVersion"),
    ],
};

static PROVIDER: Message = Message {
    members: &[given("url"), given("organization")],
};

static CAPABILITIES: Message = Message {
    members: &[
        given("streaming"),
        given("pushNotifications"),
        member("extensions", NotDefault, List(&EXTENSION)),
        given("extendedAgentCard"),
    ],
};

static EXTENSION: Message = Message {
    members: &[
        set("uri"),
        set("description"),
        set("required"),
        // A message, and free inside.
        given("params"),
    ],
};

static SKILL: Message = Message {
    members: &[
        given("id"),
        given("name"),
        given("description"),
        given("tags"),
        set("examples"),
        set("inputModes"),
        set("outputModes"),
        member("securityRequirements", NotDefault, List(&REQUIREMENT)),
    ],
};

static REQUIREMENT: Message = Message {
    members: &[member("schemes", NotDefault, Map(&STRING_LIST))],
};

static STRING_LIST: Message = Message {
    members: &[set("list")],
};

static SCHEME: Message = Message {
    members: &[
        message("apiKeySecurityScheme", &API_KEY),
        message("httpAuthSecurityScheme", &HTTP_AUTH),
        message("oauth2SecurityScheme", &OAUTH2),
        message("openIdConnectSecurityScheme", &OPEN_ID_CONNECT),
        message("mtlsSecurityScheme", &MUTUAL_TLS),
    ],
};

static API_KEY: Message = Message {
    members: &[set("description"), given("location"), given("name")],
};

static HTTP_AUTH: Message = Message {
    members: &[set("description"), given("scheme"), set("bearerFormat")],
};

static OAUTH2: Message = Message {
    members: &[
        set("description"),
        message("flows", &FLOWS),
        set("oauth2MetadataUrl"),
    ],
};

static OPEN_ID_CONNECT: Message = Message {
    members: &[set("description"), given("openIdConnectUrl")],
};

static MUTUAL_TLS: Message = Message {
    members: &[set("description")],
};

static FLOWS: Message = Message {
    members: &[
        message("authorizationCode", &AUTHORIZATION_CODE),
        message("clientCredentials", &CLIENT_CREDENTIALS),
        message("implicit", &IMPLICIT),
        message("password", &PASSWORD),
        message("deviceCode", &DEVICE_CODE),
    ],
};

static AUTHORIZATION_CODE: Message = Message {
    members: &[
        given("authorizationUrl"),
        given("tokenUrl"),
        set("refreshUrl"),
        given("scopes"),
        set("pkceRequired"),
    ],
};

static CLIENT_CREDENTIALS: Message = Message {
    members: &[given("tokenUrl"), set("refreshUrl"), given("scopes")],
};

static DEVICE_CODE: Message = Message {
    members: &[
        given("deviceAuthorizationUrl"),
        given("tokenUrl"),
        set("refreshUrl"),
        given("scopes"),
    ],
};

static IMPLICIT: Message = Message {
    members: &[set("authorizationUrl"), set("refreshUrl"), set("scopes")],
};

static PASSWORD: Message = Message {
    members: &[set("tokenUrl"), set("refreshUrl"), set("scopes")],
};
