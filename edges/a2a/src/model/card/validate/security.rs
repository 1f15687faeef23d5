use std::collections::BTreeMap;

use super::{Findings, address, content::is_token};
use crate::model::{
    AgentCard, ApiKeySecurityScheme, OAuth2SecurityScheme, OAuthFlows, SecurityRequirement,
    SecurityScheme,
};

type Schemes = BTreeMap<String, SecurityScheme>;

/// How callers authenticate.
pub(super) fn check(card: &AgentCard, found: &mut Findings) {
    for (name, scheme) in &card.security_schemes {
        if name.is_empty() {
            found.fault("securitySchemes", "must not have one without a name");
        }
        self::scheme(&format!("securitySchemes.{name}"), scheme, found);
    }
    let schemes = &card.security_schemes;
    requirements(
        "securityRequirements",
        &card.security_requirements,
        schemes,
        found,
    );
    for (index, skill) in card.skills.iter().enumerate() {
        let path = format!("skills[{index}].securityRequirements");
        requirements(&path, &skill.security_requirements, schemes, found);
    }
    if card.capabilities.extended_agent_card == Some(true) && schemes.is_empty() {
        let path = "capabilities.extendedAgentCard";
        found.advise(
            path,
            "needs callers who authenticate, and securitySchemes has no way to",
        );
    }
}

/// Whatever is asked for can be found (A2A-CARD-17).
fn requirements(
    path: &str,
    requirements: &[SecurityRequirement],
    schemes: &Schemes,
    found: &mut Findings,
) {
    for (index, requirement) in requirements.iter().enumerate() {
        for (name, scopes) in &requirement.schemes {
            let path = format!("{path}[{index}].schemes.{name}");
            let Some(scheme) = schemes.get(name) else {
                found.fault(path, "is no scheme of securitySchemes");
                continue;
            };
            let Some(known) = scopes_of(scheme).filter(|known| !known.is_empty()) else {
                continue;
            };
            for scope in &scopes.list {
                if !known.contains_key(scope) {
                    let what = format!("asks for {scope:?}, which is no scope of the scheme");
                    found.advise(path.as_str(), what);
                }
            }
        }
    }
}

fn scopes_of(scheme: &SecurityScheme) -> Option<&BTreeMap<String, String>> {
    let SecurityScheme::OAuth2(oauth2) = scheme else {
        return None;
    };
    Some(match oauth2.flows.as_ref()? {
        OAuthFlows::AuthorizationCode(flow) => &flow.scopes,
        OAuthFlows::ClientCredentials(flow) => &flow.scopes,
        OAuthFlows::DeviceCode(flow) => &flow.scopes,
        OAuthFlows::Implicit(flow) => &flow.scopes,
        OAuthFlows::Password(flow) => &flow.scopes,
    })
}

fn scheme(path: &str, scheme: &SecurityScheme, found: &mut Findings) {
    match scheme {
        SecurityScheme::ApiKey(key) => {
            api_key(&format!("{path}.apiKeySecurityScheme"), key, found);
        }
        SecurityScheme::HttpAuth(http) => {
            let path = format!("{path}.httpAuthSecurityScheme.scheme");
            if found.required(&path, &http.scheme) && !is_token(&http.scheme) {
                found.fault(path, "must be the name of a scheme, such as Bearer");
            }
        }
        SecurityScheme::OAuth2(oauth2) => {
            self::oauth2(&format!("{path}.oauth2SecurityScheme"), oauth2, found);
        }
        SecurityScheme::OpenIdConnect(connect) => {
            let path = format!("{path}.openIdConnectSecurityScheme.openIdConnectUrl");
            needed(&path, &connect.open_id_connect_url, found);
        }
        // A certificate says it all.
        SecurityScheme::MutualTls(_) => {}
    }
}

fn api_key(path: &str, key: &ApiKeySecurityScheme, found: &mut Findings) {
    let location = format!("{path}.location");
    if found.required(&location, &key.location)
        && !["query", "header", "cookie"].contains(&&*key.location)
    {
        found.fault(location, "must be query, header or cookie");
    }
    let name = format!("{path}.name");
    let is_query = key.location == "query";
    if found.required(&name, &key.name) && !is_query && !is_token(&key.name) {
        found.fault(name, "must be the name of a header or cookie");
    }
}

fn oauth2(path: &str, scheme: &OAuth2SecurityScheme, found: &mut Findings) {
    optional(
        &format!("{path}.oauth2MetadataUrl"),
        &scheme.oauth2_metadata_url,
        found,
    );
    let Some(flows) = &scheme.flows else {
        found.fault(format!("{path}.flows"), "required");
        return;
    };
    let path = format!("{path}.flows");
    match flows {
        OAuthFlows::AuthorizationCode(flow) => {
            let path = format!("{path}.authorizationCode");
            needed(
                &format!("{path}.authorizationUrl"),
                &flow.authorization_url,
                found,
            );
            needed(&format!("{path}.tokenUrl"), &flow.token_url, found);
            optional(&format!("{path}.refreshUrl"), &flow.refresh_url, found);
        }
        OAuthFlows::ClientCredentials(flow) => {
            let path = format!("{path}.clientCredentials");
            needed(&format!("{path}.tokenUrl"), &flow.token_url, found);
            optional(&format!("{path}.refreshUrl"), &flow.refresh_url, found);
        }
        OAuthFlows::DeviceCode(flow) => {
            let path = format!("{path}.deviceCode");
            let url = &flow.device_authorization_url;
            needed(&format!("{path}.deviceAuthorizationUrl"), url, found);
            needed(&format!("{path}.tokenUrl"), &flow.token_url, found);
            optional(&format!("{path}.refreshUrl"), &flow.refresh_url, found);
        }
        OAuthFlows::Implicit(flow) => {
            let path = format!("{path}.implicit");
            optional(
                &format!("{path}.authorizationUrl"),
                &flow.authorization_url,
                found,
            );
            optional(&format!("{path}.refreshUrl"), &flow.refresh_url, found);
            found.advise(path, DEPRECATED);
        }
        OAuthFlows::Password(flow) => {
            let path = format!("{path}.password");
            optional(&format!("{path}.tokenUrl"), &flow.token_url, found);
            optional(&format!("{path}.refreshUrl"), &flow.refresh_url, found);
            found.advise(path, DEPRECATED);
        }
    }
}

const DEPRECATED: &str = "is deprecated: use authorizationCode with PKCE, or deviceCode";

fn needed(path: &str, url: &str, found: &mut Findings) {
    if found.required(path, url) {
        address::web(found, path, url);
    }
}

fn optional(path: &str, url: &str, found: &mut Findings) {
    if !url.is_empty() {
        address::web(found, path, url);
    }
}
