//! What an agent says about itself.

mod agent_card;
mod capabilities;
mod interface;
mod oauth;
mod security;
mod signature;
mod skill;

pub use self::{
    agent_card::{AgentCard, AgentProvider},
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
