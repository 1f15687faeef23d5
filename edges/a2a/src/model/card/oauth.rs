use std::collections::BTreeMap;

oneof! {
    /// How to get a token: exactly one way a scheme (T-23).
    OAuthFlows: "authorizationCode, clientCredentials, implicit, password, deviceCode" {
        /// Through the user's browser.
        AuthorizationCode(AuthorizationCodeOAuthFlow) =
            "authorizationCode" | "authorization_code";
        /// With the client's own credentials.
        ClientCredentials(ClientCredentialsOAuthFlow) =
            "clientCredentials" | "client_credentials";
        /// Deprecated.
        Implicit(ImplicitOAuthFlow) = "implicit";
        /// Deprecated.
        Password(PasswordOAuthFlow) = "password";
        /// On another device.
        DeviceCode(DeviceCodeOAuthFlow) = "deviceCode" | "device_code";
    }
}

message! {
    /// Through the user's browser.
    AuthorizationCodeOAuthFlow {
        /// Where the user goes.
        authorization_url: String = "authorizationUrl" | "authorization_url", required;
        /// Where the code is exchanged.
        token_url: String = "tokenUrl" | "token_url", required;
        /// Where a token is refreshed.
        refresh_url: String = "refreshUrl" | "refresh_url";
        /// What each scope allows.
        scopes: BTreeMap<String, String> = "scopes", written;
        /// Whether PKCE is demanded.
        pkce_required: bool = "pkceRequired" | "pkce_required";
    }
}

impl AuthorizationCodeOAuthFlow {
    /// Without scopes, with PKCE.
    #[must_use]
    pub fn new(authorization_url: impl Into<String>, token_url: impl Into<String>) -> Self {
        Self {
            authorization_url: authorization_url.into(),
            token_url: token_url.into(),
            pkce_required: true,
            ..Self::blank()
        }
    }
}

message! {
    /// With the client's own credentials.
    ClientCredentialsOAuthFlow {
        /// Where to get the token.
        token_url: String = "tokenUrl" | "token_url", required;
        /// Where a token is refreshed.
        refresh_url: String = "refreshUrl" | "refresh_url";
        /// What each scope allows.
        scopes: BTreeMap<String, String> = "scopes", written;
    }
}

impl ClientCredentialsOAuthFlow {
    /// Without scopes.
    #[must_use]
    pub fn new(token_url: impl Into<String>) -> Self {
        Self {
            token_url: token_url.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// On another device.
    DeviceCodeOAuthFlow {
        /// Where to get the code.
        device_authorization_url: String =
            "deviceAuthorizationUrl" | "device_authorization_url", required;
        /// Where to get the token.
        token_url: String = "tokenUrl" | "token_url", required;
        /// Where a token is refreshed.
        refresh_url: String = "refreshUrl" | "refresh_url";
        /// What each scope allows.
        scopes: BTreeMap<String, String> = "scopes", written;
    }
}

impl DeviceCodeOAuthFlow {
    /// Without scopes.
    #[must_use]
    pub fn new(device_authorization_url: impl Into<String>, token_url: impl Into<String>) -> Self {
        Self {
            device_authorization_url: device_authorization_url.into(),
            token_url: token_url.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// Deprecated.
    ImplicitOAuthFlow {
        /// Where the user goes.
        authorization_url: String = "authorizationUrl" | "authorization_url";
        /// Where a token is refreshed.
        refresh_url: String = "refreshUrl" | "refresh_url";
        /// What each scope allows.
        scopes: BTreeMap<String, String> = "scopes";
    }
}

message! {
    /// Deprecated.
    PasswordOAuthFlow {
        /// Where to get the token.
        token_url: String = "tokenUrl" | "token_url";
        /// Where a token is refreshed.
        refresh_url: String = "refreshUrl" | "refresh_url";
        /// What each scope allows.
        scopes: BTreeMap<String, String> = "scopes";
    }
}
