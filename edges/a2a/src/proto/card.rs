map!(AgentCard {
    name,
    description,
    supported_interfaces,
    provider,
    version,
    documentation_url,
    capabilities,
    security_schemes,
    security_requirements,
    default_input_modes,
    default_output_modes,
    skills,
    signatures,
    icon_url,
});
map!(AgentInterface {
    url,
    protocol_binding,
    tenant,
    protocol_version
});
map!(AgentProvider { url, organization });
map!(AgentCapabilities {
    streaming,
    push_notifications,
    extensions,
    extended_agent_card
});
map!(AgentExtension {
    uri,
    description,
    required,
    params
});
map!(AgentSkill {
    id,
    name,
    description,
    tags,
    examples,
    input_modes,
    output_modes,
    security_requirements,
});
map!(AgentCardSignature {
    protected,
    signature,
    header
});

map!(SecurityRequirement { schemes });
map!(StringList { list });
map_oneof!(SecurityScheme {
    security_scheme::Scheme in scheme;
    ApiKey as ApiKeySecurityScheme = "apiKeySecurityScheme",
    HttpAuth as HttpAuthSecurityScheme = "httpAuthSecurityScheme",
    OAuth2 as Oauth2SecurityScheme = "oauth2SecurityScheme",
    OpenIdConnect as OpenIdConnectSecurityScheme = "openIdConnectSecurityScheme",
    MutualTls as MtlsSecurityScheme = "mtlsSecurityScheme",
});
map!(ApiKeySecurityScheme {
    description,
    location,
    name
});
map!(HttpAuthSecurityScheme {
    description,
    scheme,
    bearer_format
});
map!(OAuth2SecurityScheme {
    description,
    flows,
    oauth2_metadata_url
});
map!(OpenIdConnectSecurityScheme {
    description,
    open_id_connect_url
});
map!(MutualTlsSecurityScheme { description });

map_oneof!(OAuthFlows {
    o_auth_flows::Flow in flow;
    AuthorizationCode as AuthorizationCode = "authorizationCode",
    ClientCredentials as ClientCredentials = "clientCredentials",
    Implicit as Implicit = "implicit",
    Password as Password = "password",
    DeviceCode as DeviceCode = "deviceCode",
});
map!(AuthorizationCodeOAuthFlow {
    authorization_url,
    token_url,
    refresh_url,
    scopes,
    pkce_required,
});
map!(ClientCredentialsOAuthFlow {
    token_url,
    refresh_url,
    scopes
});
map!(ImplicitOAuthFlow {
    authorization_url,
    refresh_url,
    scopes
});
map!(PasswordOAuthFlow {
    token_url,
    refresh_url,
    scopes
});
map!(DeviceCodeOAuthFlow {
    device_authorization_url,
    token_url,
    refresh_url,
    scopes,
});
