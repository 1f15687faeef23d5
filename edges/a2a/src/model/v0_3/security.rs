use std::collections::BTreeMap;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::Written;
use crate::model::{OAuthFlows, SecurityRequirement, SecurityScheme};

/// Ways to authenticate, by name; with `merged` each has the members of both versions
/// (A2A-COMPAT-6).
pub(super) struct Schemes<'a> {
    pub(super) schemes: &'a BTreeMap<String, SecurityScheme>,
    pub(super) merged: bool,
}

impl Serialize for Schemes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let merged = self.merged;
        serializer.collect_map(
            self.schemes
                .iter()
                .map(|(name, scheme)| (name, Scheme { scheme, merged })),
        )
    }
}

struct Scheme<'a> {
    scheme: &'a SecurityScheme,
    merged: bool,
}

impl Serialize for Scheme<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        let description = match self.scheme {
            SecurityScheme::ApiKey(key) => {
                object.serialize_entry("type", "apiKey")?;
                object.serialize_entry("in", &key.location)?;
                object.serialize_entry("name", &key.name)?;
                &key.description
            }
            SecurityScheme::HttpAuth(http) => {
                object.serialize_entry("type", "http")?;
                object.serialize_entry("scheme", &http.scheme)?;
                if !http.bearer_format.is_empty() {
                    object.serialize_entry("bearerFormat", &http.bearer_format)?;
                }
                &http.description
            }
            SecurityScheme::OAuth2(oauth) => {
                object.serialize_entry("type", "oauth2")?;
                object.serialize_entry("flows", &Flows(oauth.flows.as_ref()))?;
                if !oauth.oauth2_metadata_url.is_empty() {
                    object.serialize_entry("oauth2MetadataUrl", &oauth.oauth2_metadata_url)?;
                }
                &oauth.description
            }
            SecurityScheme::OpenIdConnect(connect) => {
                object.serialize_entry("type", "openIdConnect")?;
                object.serialize_entry("openIdConnectUrl", &connect.open_id_connect_url)?;
                &connect.description
            }
            SecurityScheme::MutualTls(mutual) => {
                object.serialize_entry("type", "mutualTLS")?;
                &mutual.description
            }
        };
        if !description.is_empty() {
            object.serialize_entry("description", description)?;
        }
        if self.merged {
            match self.scheme {
                SecurityScheme::ApiKey(new) => {
                    object.serialize_entry("apiKeySecurityScheme", new)?;
                }
                SecurityScheme::HttpAuth(new) => {
                    object.serialize_entry("httpAuthSecurityScheme", new)?;
                }
                SecurityScheme::OAuth2(new) => {
                    object.serialize_entry("oauth2SecurityScheme", new)?;
                }
                SecurityScheme::OpenIdConnect(new) => {
                    object.serialize_entry("openIdConnectSecurityScheme", new)?;
                }
                SecurityScheme::MutualTls(new) => {
                    object.serialize_entry("mtlsSecurityScheme", new)?;
                }
            }
        }
        object.end()
    }
}

/// Flows by name. The one for devices came with 1.0.
struct Flows<'a>(Option<&'a OAuthFlows>);

impl Serialize for Flows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None | Some(OAuthFlows::DeviceCode(_)) => serializer.serialize_map(Some(0))?.end(),
            Some(flows) => flows.serialize(serializer),
        }
    }
}

/// The scopes that are needed, by the name of the scheme.
impl Serialize for Written<'_, SecurityRequirement> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let schemes = &self.value.schemes;
        serializer.collect_map(schemes.iter().map(|(name, scopes)| (name, &scopes.list)))
    }
}
