//! What makes a card good, and what is said of one that is not.

use portcullis_a2a::model::{
    AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill, ApiKeySecurityScheme,
    AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow,
    HttpAuthSecurityScheme, MutualTlsSecurityScheme, OAuth2SecurityScheme,
    OpenIdConnectSecurityScheme, SecurityRequirement, Violation, decode_response,
};
use serde_json::{Value, json};

/// Everything that a card can have.
fn whole() -> Value {
    json!({
        "name": "n",
        "description": "d",
        "supportedInterfaces": [
            {"url": "https://h.example/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "https://h.example:8443/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", "tenant": "acme"},
            {"url": "h.example:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
            {"url": "wss://h.example/ws", "protocolBinding": "https://example.com/bindings/ws/v1", "protocolVersion": "1.0"},
            {"url": "https://h.example/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        ],
        "provider": {"organization": "o", "url": "https://example.com"},
        "version": "1.0.0",
        "documentationUrl": "https://example.com/docs",
        "iconUrl": "data:image/png;base64,AAAA",
        "capabilities": {
            "streaming": true,
            "extendedAgentCard": true,
            "extensions": [{"uri": "https://example.com/ext/v1"}, {"uri": "urn:example:ext", "required": true}],
        },
        "securitySchemes": {
            "bearer": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
            "header": {"apiKeySecurityScheme": {"location": "header", "name": "x-key"}},
            "query": {"apiKeySecurityScheme": {"location": "query", "name": "a key"}},
            "mtls": {"mtlsSecurityScheme": {}},
            "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://id.example/.well-known/openid-configuration"}},
            "code": {"oauth2SecurityScheme": {"oauth2MetadataUrl": "https://id.example/m", "flows": {"authorizationCode": {
                "authorizationUrl": "https://id.example/a", "tokenUrl": "https://id.example/t", "scopes": {"read": "Reads."}}}}},
            "client": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://id.example/t", "scopes": {}}}}},
            "device": {"oauth2SecurityScheme": {"flows": {"deviceCode": {
                "deviceAuthorizationUrl": "https://id.example/d", "tokenUrl": "https://id.example/t", "scopes": {}}}}},
        },
        "securityRequirements": [
            {"schemes": {}},
            {"schemes": {"bearer": {}, "code": {"list": ["read"]}}},
            {"schemes": {"client": {"list": ["whatever"]}}},
        ],
        "defaultInputModes": ["text/plain", "image/*", "*/*", "application/json; charset=utf-8"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {"id": "a", "name": "A", "description": "d", "tags": ["t"], "inputModes": ["text/plain"],
             "securityRequirements": [{"schemes": {"mtls": {}}}]},
            {"id": "b", "name": "A", "description": "d", "tags": ["t"]},
        ],
        "signatures": [{"protected": "e30", "signature": "AAAA"}],
    })
}

fn read(card: &Value) -> AgentCard {
    decode_response(&card.to_string()).unwrap()
}

fn told(violations: &[Violation]) -> Vec<String> {
    violations.iter().map(ToString::to_string).collect()
}

fn faults(card: &AgentCard) -> Vec<String> {
    match card.validate() {
        Ok(()) => Vec::new(),
        Err(faults) => told(faults.violations()),
    }
}

#[test]
fn a_good_card_has_no_fault_and_needs_no_advice() {
    let card = read(&whole());
    assert_eq!(faults(&card), [""; 0]);
    assert_eq!(told(&card.advice()), [""; 0]);
    // EX-24 has a description, a documentation URL and skills that are empty by the letter.
    let sparse = json!({"name": "n", "description": "", "version": "1", "documentationUrl": "",
        "supportedInterfaces": [whole()["supportedInterfaces"][0]], "capabilities": {}, "skills": [],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]});
    assert_eq!(faults(&read(&sparse)), [""; 0]);
}

/// A2A-CARD-7, 10, 12..15, 17; A2A-SVC-2, 13; A2A-REST-9; A2A-GRPC-6; A2A-DATA-21: one edit, one fault
/// at its place.
#[test]
fn each_fault_has_its_path() {
    let interface = "supportedInterfaces[0]";
    let absolute = "must be an absolute URL, such as https://agent.example.com/";
    let host_port = "must be a host:port, such as agent.example.com:443";
    for (at, value, fault) in [
        ("/name", json!(""), "name: required"),
        ("/name", json!(" \t"), "name: required"),
        ("/version", json!(""), "version: required"),
        (
            "/supportedInterfaces",
            json!([]),
            "supportedInterfaces: at least one is required",
        ),
        (
            "/provider/organization",
            json!(""),
            "provider.organization: required",
        ),
        ("/provider/url", json!(""), "provider.url: required"),
        (
            "/provider/url",
            json!("example.com"),
            &format!("provider.url: {absolute}"),
        ),
        (
            "/documentationUrl",
            json!("docs/index.html"),
            "documentationUrl: must be an absolute URL",
        ),
        (
            "/iconUrl",
            json!("/icon.png"),
            "iconUrl: must be an absolute URL",
        ),
        (
            "/defaultInputModes",
            json!([]),
            "defaultInputModes: at least one is required",
        ),
        (
            "/defaultOutputModes",
            json!([]),
            "defaultOutputModes: at least one is required",
        ),
        (
            "/defaultInputModes/1",
            json!("text"),
            "defaultInputModes[1]: must be a media type, such as text/plain",
        ),
        (
            "/defaultOutputModes/0",
            json!("text/"),
            "defaultOutputModes[0]: must be a media type, such as text/plain",
        ),
        ("/skills/0/id", json!(""), "skills[0].id: required"),
        (
            "/skills/1/id",
            json!("a"),
            "skills[1].id: is that of skills[0]",
        ),
        ("/skills/1/name", json!(""), "skills[1].name: required"),
        (
            "/skills/1/tags",
            json!([]),
            "skills[1].tags: at least one is required",
        ),
        (
            "/skills/1/tags",
            json!(["t", ""]),
            "skills[1].tags[1]: required",
        ),
        (
            "/skills/0/inputModes/0",
            json!("text plain"),
            "skills[0].inputModes[0]: must be a media type, such as text/plain",
        ),
        (
            "/skills/0/outputModes",
            json!(["*"]),
            "skills[0].outputModes[0]: must be a media type, such as text/plain",
        ),
        (
            "/skills/0/securityRequirements/0",
            json!({"schemes": {"x": {}}}),
            "skills[0].securityRequirements[0].schemes.x: is no scheme of securitySchemes",
        ),
        (
            "/securityRequirements/1",
            json!({"schemes": {"bearer": {}, "Bearer": {}}}),
            "securityRequirements[1].schemes.Bearer: is no scheme of securitySchemes",
        ),
        (
            "/capabilities/extensions/1/uri",
            json!(""),
            "capabilities.extensions[1].uri: required",
        ),
        (
            "/capabilities/extensions/1/uri",
            json!("events"),
            "capabilities.extensions[1].uri: must be an absolute URI",
        ),
        (
            "/capabilities/extensions/1/uri",
            json!("urn:a,b"),
            "capabilities.extensions[1].uri: must not hold a comma: nobody can ask for it",
        ),
        (
            "/capabilities/extensions/1/uri",
            json!("https://example.com/ext/v1"),
            "capabilities.extensions[1].uri: is that of capabilities.extensions[0]",
        ),
        (
            "/signatures/0/signature",
            json!(""),
            "signatures[0].signature: required",
        ),
        (
            "/signatures/0/protected",
            json!(""),
            "signatures[0].protected: required",
        ),
        // Interfaces.
        (
            "/supportedInterfaces/0/url",
            json!(""),
            &format!("{interface}.url: required"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("/rpc"),
            &format!("{interface}.url: {absolute}"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("//h.example/"),
            &format!("{interface}.url: {absolute}"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("file:///etc/passwd"),
            &format!("{interface}.url: {absolute}"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://h.example/a b"),
            &format!("{interface}.url: {absolute}"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://h.example/\u{e9}"),
            &format!("{interface}.url: {absolute}"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https:///rpc"),
            &format!("{interface}.url: must name a host, and a port if not that of the scheme"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://h.example:99999/"),
            &format!("{interface}.url: must name a host, and a port if not that of the scheme"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://[::1/"),
            &format!("{interface}.url: must name a host, and a port if not that of the scheme"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://user:secret@h.example/"),
            &format!("{interface}.url: must not hold credentials: everybody reads the card"),
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://h.example/#a"),
            &format!("{interface}.url: must have no fragment"),
        ),
        (
            "/supportedInterfaces/1/url",
            json!("https://h.example/rest?key=1"),
            "supportedInterfaces[1].url: must have no query and no fragment: routes are below it",
        ),
        (
            "/supportedInterfaces/2/url",
            json!("h.example"),
            &format!("supportedInterfaces[2].url: {host_port}"),
        ),
        (
            "/supportedInterfaces/2/url",
            json!("h.example:0"),
            &format!("supportedInterfaces[2].url: {host_port}"),
        ),
        (
            "/supportedInterfaces/2/url",
            json!("h.example:443/a"),
            &format!("supportedInterfaces[2].url: {host_port}"),
        ),
        (
            "/supportedInterfaces/3/url",
            json!("somewhere"),
            "supportedInterfaces[3].url: must be an absolute URI",
        ),
        (
            "/supportedInterfaces/0/protocolBinding",
            json!(""),
            &format!("{interface}.protocolBinding: required"),
        ),
        (
            "/supportedInterfaces/0/protocolBinding",
            json!("jsonrpc"),
            &format!("{interface}.protocolBinding: must be written JSONRPC"),
        ),
        (
            "/supportedInterfaces/0/protocolBinding",
            json!("SOAP"),
            &format!("{interface}.protocolBinding: must be JSONRPC, GRPC, HTTP+JSON, or a URI"),
        ),
        (
            "/supportedInterfaces/0/protocolVersion",
            json!(""),
            &format!("{interface}.protocolVersion: required"),
        ),
        (
            "/supportedInterfaces/0/protocolVersion",
            json!("1"),
            &format!(
                "{interface}.protocolVersion: must be a major and a minor number, such as 1.0"
            ),
        ),
        (
            "/supportedInterfaces/0/protocolVersion",
            json!("v1.0"),
            &format!(
                "{interface}.protocolVersion: must be a major and a minor number, such as 1.0"
            ),
        ),
        (
            "/supportedInterfaces/0/tenant",
            json!("a\u{7}"),
            &format!("{interface}.tenant: must not hold control characters"),
        ),
        (
            "/supportedInterfaces/0/tenant",
            json!("a".repeat(257)),
            &format!("{interface}.tenant: longer than 256 bytes"),
        ),
        (
            "/supportedInterfaces/1/tenant",
            json!("tasks"),
            "supportedInterfaces[1].tenant: must not be the name of a route",
        ),
        // Schemes.
        (
            "/securitySchemes/bearer/httpAuthSecurityScheme/scheme",
            json!(""),
            "securitySchemes.bearer.httpAuthSecurityScheme.scheme: required",
        ),
        (
            "/securitySchemes/bearer/httpAuthSecurityScheme/scheme",
            json!("Bearer token"),
            "securitySchemes.bearer.httpAuthSecurityScheme.scheme: must be the name of a scheme, such as Bearer",
        ),
        (
            "/securitySchemes/header/apiKeySecurityScheme/location",
            json!("body"),
            "securitySchemes.header.apiKeySecurityScheme.location: must be query, header or cookie",
        ),
        (
            "/securitySchemes/header/apiKeySecurityScheme/name",
            json!("x key"),
            "securitySchemes.header.apiKeySecurityScheme.name: must be the name of a header or cookie",
        ),
        (
            "/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl",
            json!("id.example"),
            &format!(
                "securitySchemes.oidc.openIdConnectSecurityScheme.openIdConnectUrl: {absolute}"
            ),
        ),
        (
            "/securitySchemes/code/oauth2SecurityScheme/oauth2MetadataUrl",
            json!("m"),
            &format!("securitySchemes.code.oauth2SecurityScheme.oauth2MetadataUrl: {absolute}"),
        ),
        (
            "/securitySchemes/code/oauth2SecurityScheme/flows/authorizationCode/authorizationUrl",
            json!(""),
            "securitySchemes.code.oauth2SecurityScheme.flows.authorizationCode.authorizationUrl: required",
        ),
        (
            "/securitySchemes/client/oauth2SecurityScheme/flows/clientCredentials/tokenUrl",
            json!("t"),
            &format!(
                "securitySchemes.client.oauth2SecurityScheme.flows.clientCredentials.tokenUrl: {absolute}"
            ),
        ),
        (
            "/securitySchemes/device/oauth2SecurityScheme/flows/deviceCode/deviceAuthorizationUrl",
            json!(""),
            "securitySchemes.device.oauth2SecurityScheme.flows.deviceCode.deviceAuthorizationUrl: required",
        ),
    ] {
        let card = edited(at, &value);
        assert_eq!(faults(&read(&card)), [fault], "{at} = {value}");
    }
}

/// The same at once.
#[test]
fn all_faults_are_told_at_once() {
    let card = json!({"supportedInterfaces": [{"url": "x"}, {"url": "https://h/", "protocolBinding": "rest", "protocolVersion": "1.0"}],
        "skills": [{}], "securityRequirements": [{"schemes": {"a": {}, "b": {}}}]});
    let told = faults(&read(&card));
    assert_eq!(
        told,
        [
            "name: required",
            "version: required",
            "defaultInputModes: at least one is required",
            "defaultOutputModes: at least one is required",
            "skills[0].id: required",
            "skills[0].name: required",
            "skills[0].tags: at least one is required",
            "supportedInterfaces[0].url: must be an absolute URI",
            "supportedInterfaces[0].protocolBinding: required",
            "supportedInterfaces[0].protocolVersion: required",
            "supportedInterfaces[1].protocolBinding: must be JSONRPC, GRPC, HTTP+JSON, or a URI",
            "securityRequirements[0].schemes.a: is no scheme of securitySchemes",
            "securityRequirements[0].schemes.b: is no scheme of securitySchemes",
        ]
    );
    let shown = read(&card).validate().unwrap_err().to_string();
    assert_eq!(shown, told.join("; "));
}

/// A2A-CARD-12, A2A-SVC-2, A2A-GRPC-6, A2A-OP-104: what may be so and had better not. None is a fault.
#[test]
fn advice() {
    let interface = "supportedInterfaces[0].url";
    let listens = "is where to listen, and no address that others can call";
    let plain = "is not encrypted: production is at https";
    for (at, value, advice) in [
        ("/description", json!(""), vec!["description: says nothing"]),
        (
            "/skills/1/description",
            json!(""),
            vec!["skills[1].description: says nothing"],
        ),
        (
            "/supportedInterfaces/0/url",
            json!("http://h.example/"),
            vec![&*format!("{interface}: {plain}")],
        ),
        (
            "/supportedInterfaces/0/url",
            json!("HTTP://10.0.0.1/"),
            vec![&*format!("{interface}: {plain}")],
        ),
        (
            "/supportedInterfaces/0/url",
            json!("http://localhost.example/"),
            vec![&*format!("{interface}: {plain}")],
        ),
        // This very machine needs none.
        (
            "/supportedInterfaces/0/url",
            json!("http://127.0.0.1:8080/"),
            vec![],
        ),
        (
            "/supportedInterfaces/0/url",
            json!("http://[::1]:8080"),
            vec![],
        ),
        (
            "/supportedInterfaces/0/url",
            json!("http://LocalHost/"),
            vec![],
        ),
        (
            "/supportedInterfaces/0/url",
            json!("https://0.0.0.0/"),
            vec![&*format!("{interface}: {listens}")],
        ),
        (
            "/supportedInterfaces/2/url",
            json!("[::]:443"),
            vec![&*format!("supportedInterfaces[2].url: {listens}")],
        ),
        (
            "/supportedInterfaces/2/url",
            json!("https://h.example"),
            vec![
                "supportedInterfaces[2].url: is a URL: gRPC is at a host:port, such as agent.example.com:443",
            ],
        ),
        (
            "/supportedInterfaces/0/protocolVersion",
            json!("1.0.1"),
            vec!["supportedInterfaces[0].protocolVersion: has a patch number: write 1.0"],
        ),
        (
            "/supportedInterfaces/4",
            whole()["supportedInterfaces"][0].clone(),
            vec!["supportedInterfaces[4]: is supportedInterfaces[0] again"],
        ),
        (
            "/securityRequirements/1/schemes/code",
            json!({"list": ["read", "write"]}),
            vec![
                "securityRequirements[1].schemes.code: asks for \"write\", which is no scope of the scheme",
            ],
        ),
        (
            "/securitySchemes/client/oauth2SecurityScheme",
            json!({"flows": {"password": {"tokenUrl": "https://id.example/t"}}}),
            vec![
                "securitySchemes.client.oauth2SecurityScheme.flows.password: is deprecated: use authorizationCode with PKCE, or deviceCode",
            ],
        ),
        (
            "/securitySchemes/oidc/openIdConnectSecurityScheme/openIdConnectUrl",
            json!("http://id.example/"),
            vec![&*format!(
                "securitySchemes.oidc.openIdConnectSecurityScheme.openIdConnectUrl: {plain}"
            )],
        ),
    ] {
        let card = read(&edited(at, &value));
        assert_eq!(faults(&card), [""; 0], "{at} = {value}");
        assert_eq!(told(&card.advice()), advice, "{at} = {value}");
    }
    let mut card = read(&whole());
    card.security_schemes.clear();
    card.security_requirements.clear();
    for skill in &mut card.skills {
        skill.security_requirements.clear();
    }
    assert_eq!(
        told(&card.advice()),
        [
            "capabilities.extendedAgentCard: needs callers who authenticate, and securitySchemes has no way to"
        ]
    );
}

#[test]
fn a_builder_makes_what_a_document_says() {
    let mut document = whole();
    for unlike in ["signatures", "iconUrl"] {
        document.as_object_mut().unwrap().remove(unlike);
    }
    let expected = read(&document);
    let mut builder = AgentCard::builder("n", "d")
        .interfaces(expected.supported_interfaces.clone())
        .version("1.0.0")
        .provider(AgentProvider::new("o", "https://example.com"))
        .documentation_url("https://example.com/docs")
        .capabilities(expected.capabilities.clone())
        .input_modes(&expected.default_input_modes)
        .output_modes(["text/plain"])
        .scheme("bearer", HttpAuthSecurityScheme::new("bearer"))
        .scheme("header", ApiKeySecurityScheme::header("x-key"))
        .scheme("query", ApiKeySecurityScheme::query("a key"))
        .scheme("mtls", MutualTlsSecurityScheme::new())
        .scheme(
            "oidc",
            OpenIdConnectSecurityScheme::new("https://id.example/.well-known/openid-configuration"),
        )
        .scheme(
            "client",
            OAuth2SecurityScheme::new(ClientCredentialsOAuthFlow::new("https://id.example/t")),
        )
        .scheme(
            "device",
            OAuth2SecurityScheme::new(DeviceCodeOAuthFlow::new(
                "https://id.example/d",
                "https://id.example/t",
            )),
        );
    let mut flow = AuthorizationCodeOAuthFlow::new("https://id.example/a", "https://id.example/t");
    assert!(flow.pkce_required, "the safe way is the default");
    flow.pkce_required = false;
    flow.scopes.insert("read".to_owned(), "Reads.".to_owned());
    let mut code = OAuth2SecurityScheme::new(flow);
    code.oauth2_metadata_url = "https://id.example/m".to_owned();
    builder = builder.scheme("code", code);
    for requirement in &expected.security_requirements {
        builder = builder.require(requirement.clone());
    }
    for skill in &expected.skills {
        builder = builder.skill(skill.clone());
    }
    assert_eq!(builder.build().unwrap(), expected);
}

#[test]
fn a_builder_says_what_is_missing() {
    let faults = AgentCard::builder("", "").build().unwrap_err();
    assert_eq!(
        told(faults.violations()),
        [
            "name: required",
            "supportedInterfaces: at least one is required"
        ]
    );
    // What it does is its one skill.
    let card = AgentCard::builder("n", "d")
        .interface(AgentInterface::json_rpc("https://h.example/"))
        .extension(AgentExtension::new("urn:x"))
        .build()
        .unwrap();
    assert_eq!(card.skills, [AgentSkill::new("main", "n", "d")]);
    let undeclared = SecurityRequirement::new().with("bearer", [""; 0]);
    let faults = AgentCard::builder("n", "d")
        .interface(AgentInterface::json_rpc("https://h.example/"))
        .require(undeclared)
        .build()
        .unwrap_err();
    assert_eq!(
        told(faults.violations()),
        ["securityRequirements[0].schemes.bearer: is no scheme of securitySchemes"]
    );
}

#[cfg(feature = "server")]
mod served {
    use std::error::Error;

    use portcullis_a2a::server::{BuildError, RequestContext, Server, ServerBuilder, executor_fn};

    use super::*;

    fn server(card: AgentCard) -> ServerBuilder {
        Server::builder(executor_fn(async |_ctx: RequestContext, _out| {}), card)
    }

    #[test]
    fn a_bad_card_makes_no_server() {
        let mut card = read(&whole());
        card.name.clear();
        card.supported_interfaces[0].url = "/".to_owned();
        let error = server(card.clone()).try_build().unwrap_err();
        assert!(matches!(error, BuildError::Card(_)));
        assert_eq!(error.to_string(), "the card cannot be served");
        let because = error.source().unwrap().to_string();
        assert!(
            because.starts_with("name: required; supportedInterfaces[0].url: must be"),
            "{because}"
        );

        let panic = std::panic::catch_unwind(|| drop(server(card).build())).unwrap_err();
        let panic = panic.downcast::<String>().unwrap();
        assert_eq!(*panic, format!("the card cannot be served: {because}"));
    }

    #[test]
    fn a_good_one_does() {
        assert_eq!(server(read(&whole())).try_build().unwrap().card().name, "n");
    }
}

/// The card with a member set, whether it was there or not.
fn edited(at: &str, value: &Value) -> Value {
    let mut card = whole();
    let (parent, member) = at.rsplit_once('/').unwrap();
    match card.pointer_mut(parent).unwrap() {
        Value::Array(items) => items[member.parse::<usize>().unwrap()] = value.clone(),
        object => object[member] = value.clone(),
    }
    card
}
