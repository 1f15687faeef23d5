use std::collections::BTreeMap;

use super::OAuthFlows;

message! {
    /// Schemes that have to be satisfied together.
    SecurityRequirement {
        /// The scopes that are needed, by the name of the scheme.
        schemes: BTreeMap<String, StringList> = "schemes";
    }
}

impl SecurityRequirement {
    /// Nothing is needed.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }

    /// And this scheme with these scopes.
    #[must_use]
    pub fn with<T: Into<String>>(
        mut self,
        scheme: impl Into<String>,
        scopes: impl IntoIterator<Item = T>,
    ) -> Self {
        let list = scopes.into_iter().map(Into::into).collect();
        self.schemes.insert(scheme.into(), StringList { list });
        self
    }
}

impl Default for SecurityRequirement {
    fn default() -> Self {
        Self::new()
    }
}

message! {
    /// A list of texts.
    StringList {
        /// The texts.
        list: Vec<String> = "list";
    }
}

oneof! {
    /// A way to authenticate.
    SecurityScheme: "apiKeySecurityScheme, httpAuthSecurityScheme, oauth2SecurityScheme, \
                     openIdConnectSecurityScheme, mtlsSecurityScheme" {
        /// A key.
        ApiKey(ApiKeySecurityScheme) = "apiKeySecurityScheme" | "api_key_security_scheme";
        /// HTTP authentication.
        HttpAuth(HttpAuthSecurityScheme) = "httpAuthSecurityScheme" | "http_auth_security_scheme";
        /// OAuth 2.
        OAuth2(OAuth2SecurityScheme) = "oauth2SecurityScheme" | "oauth2_security_scheme";
        /// OpenID Connect.
        OpenIdConnect(OpenIdConnectSecurityScheme) =
            "openIdConnectSecurityScheme" | "open_id_connect_security_scheme";
        /// A client certificate.
        MutualTls(MutualTlsSecurityScheme) = "mtlsSecurityScheme" | "mtls_security_scheme";
    }
}

message! {
    /// A key.
    ApiKeySecurityScheme {
        /// What it is, for people.
        description: String = "description";
        /// `query`, `header` or `cookie`.
        location: String = "location", required;
        /// The name of the parameter, header or cookie.
        name: String = "name", required;
    }
}

impl ApiKeySecurityScheme {
    /// In a header.
    #[must_use]
    pub fn header(name: impl Into<String>) -> Self {
        Self::at("header", name)
    }

    /// In a cookie.
    #[must_use]
    pub fn cookie(name: impl Into<String>) -> Self {
        Self::at("cookie", name)
    }

    /// In the query of the URL.
    #[must_use]
    pub fn query(name: impl Into<String>) -> Self {
        Self::at("query", name)
    }

    fn at(location: &str, name: impl Into<String>) -> Self {
        Self {
            location: location.to_owned(),
            name: name.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// HTTP authentication.
    HttpAuthSecurityScheme {
        /// What it is, for people.
        description: String = "description";
        /// The scheme; case does not matter.
        scheme: String = "scheme", required;
        /// What a bearer token is, for people.
        bearer_format: String = "bearerFormat" | "bearer_format";
    }
}

impl HttpAuthSecurityScheme {
    /// Bearer tokens.
    #[must_use]
    pub fn bearer() -> Self {
        Self::new("Bearer")
    }

    /// A scheme of HTTP.
    #[must_use]
    pub fn new(scheme: impl Into<String>) -> Self {
        Self {
            scheme: scheme.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// OAuth 2.
    OAuth2SecurityScheme {
        /// What it is, for people.
        description: String = "description";
        /// How to get a token.
        flows: Option<OAuthFlows> = "flows", needed;
        /// Where the metadata of the authorization server is.
        oauth2_metadata_url: String = "oauth2MetadataUrl" | "oauth2_metadata_url";
    }
}

impl OAuth2SecurityScheme {
    /// OAuth 2 with a way to get a token. To offer another way as well, declare another scheme.
    #[must_use]
    pub fn new(flow: impl Into<OAuthFlows>) -> Self {
        Self {
            flows: Some(flow.into()),
            ..Self::blank()
        }
    }
}

message! {
    /// OpenID Connect.
    OpenIdConnectSecurityScheme {
        /// What it is, for people.
        description: String = "description";
        /// Where the discovery document is.
        open_id_connect_url: String = "openIdConnectUrl" | "open_id_connect_url", required;
    }
}

impl OpenIdConnectSecurityScheme {
    /// OpenID Connect, as the document at this URL has it.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            open_id_connect_url: url.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// A client certificate.
    MutualTlsSecurityScheme {
        /// What it is, for people.
        description: String = "description";
    }
}

impl MutualTlsSecurityScheme {
    /// A client certificate.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }
}

impl Default for MutualTlsSecurityScheme {
    fn default() -> Self {
        Self::new()
    }
}
