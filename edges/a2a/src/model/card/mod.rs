//! What an agent says about itself.

mod agent_card;
mod builder;
mod capabilities;
mod interface;
mod oauth;
mod security;
mod signature;
mod skill;
mod validate;

pub use self::{
    agent_card::{AgentCard, AgentProvider},
    builder::AgentCardBuilder,
    capabilities::{AgentCapabilities, AgentExtension},
    interface::AgentInterface,
    oauth::{
        AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow,
        ImplicitOAuthFlow, OAuthFlows, PasswordOAuthFlow,
    },
    security::{
        ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme,
        OAuth2SecurityScheme, OpenIdConnectSecurityScheme, SecurityRequirement, SecurityScheme,
        StringList,
    },
    signature::AgentCardSignature,
    skill::AgentSkill,
};
