use std::{fmt, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, StatusCode, Uri,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE},
};
use http_body_util::Full;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use super::token::{Fetching, NoToken, TokenSource};
use crate::{
    client::{
        exchange::{exchange, whole},
        limits::Limits,
        transport::Transport,
    },
    wire::{JSON, encode},
};

/// Tokens by the client credentials grant of OAuth 2 (RFC 6749, section 4.4).
///
/// A token is kept until shortly before it expires, and until the server refuses it. However many
/// calls need one, one request is on its way; after a failure nobody asks again for a second. A
/// token that still holds is used when the next cannot be had.
///
/// The address of the token endpoint is the caller's to say, not the card's: the secret goes there.
/// It has to have TLS, except on this machine.
pub struct ClientCredentials<T> {
    transport: T,
    token_url: Uri,
    client_id: String,
    secret: SecretString,
    scopes: Vec<String>,
    in_body: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Token>,
    failed: Option<(Instant, NoToken)>,
}

struct Token {
    value: SecretString,
    refresh_at: Instant,
    expires_at: Instant,
}

impl<T: Transport> ClientCredentials<T> {
    /// Of a client that the server at `token_url` knows.
    pub fn new(
        transport: T,
        token_url: Uri,
        client_id: impl Into<String>,
        secret: impl Into<SecretString>,
    ) -> Self {
        Self {
            transport,
            token_url,
            client_id: client_id.into(),
            secret: secret.into(),
            scopes: Vec::new(),
            in_body: false,
            state: Mutex::default(),
        }
    }

    /// Asks for these scopes. Without any, the server decides.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sends id and secret in the body, for servers that do not take them as Basic authentication.
    #[must_use]
    pub const fn secret_in_body(mut self) -> Self {
        self.in_body = true;
        self
    }

    async fn current(&self, rejected: Option<&SecretString>) -> Result<SecretString, NoToken> {
        // One at a time: whoever waits finds what the one before has got.
        let mut state = self.state.lock().await;
        let is_rejected = |token: &Token| {
            rejected.is_some_and(|rejected| rejected.expose_secret() == token.value.expose_secret())
        };
        if state.token.as_ref().is_some_and(is_rejected) {
            state.token = None;
        }
        let now = Instant::now();
        if let Some(token) = &state.token
            && now < token.refresh_at
        {
            return Ok(token.value.clone());
        }
        let error = match &state.failed {
            Some((until, error)) if now < *until => error.clone(),
            _ => match self.fetch().await {
                Ok(token) => {
                    let value = token.value.clone();
                    *state = State {
                        token: Some(token),
                        failed: None,
                    };
                    return Ok(value);
                }
                Err(error) => {
                    state.failed = Some((Instant::now() + SELDOM, error.clone()));
                    error
                }
            },
        };
        match &state.token {
            Some(token) if Instant::now() < token.expires_at => Ok(token.value.clone()),
            _ => Err(error),
        }
    }

    async fn fetch(&self) -> Result<Token, NoToken> {
        let request = self.request()?;
        let asked = Instant::now();
        let response = exchange(&self.transport, request, &Limits::CARD).await;
        let response = response.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let body = whole(response.into_body(), &Limits::CARD).await;
        let body = body.map_err(|error| self.unreachable(&error))?;
        if status != StatusCode::OK {
            return Err(self.refused(status, &body));
        }
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|_| NoToken::new(format!("{} answered with none", self.token_url)))?;
        if !answer.token_type.eq_ignore_ascii_case("bearer") {
            return Err(NoToken::new("it is no bearer token"));
        }
        let life = answer.expires_in.map_or(LONGEST, Duration::from_secs);
        let life = life.min(LONGEST);
        Ok(Token {
            value: answer.access_token,
            refresh_at: asked + (life - EARLY.min(life / 10)),
            expires_at: asked + life,
        })
    }

    fn request(&self) -> Result<Request<Full<Bytes>>, NoToken> {
        let is_safe = match self.token_url.scheme_str() {
            Some("https") => true,
            Some("http") => self.token_url.host().is_some_and(is_here),
            _ => false,
        };
        if !is_safe {
            return Err(NoToken::new(format!(
                "the secret would go to {} in the clear",
                self.token_url
            )));
        }
        let mut form = "grant_type=client_credentials".to_owned();
        if !self.scopes.is_empty() {
            form.push_str("&scope=");
            form.push_str(&encode(&self.scopes.join(" ")));
        }
        let id = encode(&self.client_id);
        let secret = encode(self.secret.expose_secret());
        if self.in_body {
            form.push_str(&format!("&client_id={id}&client_secret={secret}"));
        }
        let mut request = Request::new(Full::from(form));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(&self.token_url);
        let headers = request.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        headers.insert(ACCEPT, HeaderValue::from_static(JSON));
        if !self.in_body {
            let basic = BASE64_STANDARD.encode(format!("{id}:{secret}"));
            let mut value = HeaderValue::try_from(format!("Basic {basic}"))
                .map_err(|_| NoToken::new("the secret fits no header"))?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(request)
    }

    fn unreachable(&self, error: &crate::client::CallError) -> NoToken {
        NoToken::new(format!("{}: {error}", self.token_url))
    }

    /// Only the code that the standard has: the rest may repeat what was sent.
    fn refused(&self, status: StatusCode, body: &[u8]) -> NoToken {
        #[derive(Deserialize)]
        struct Refusal {
            error: String,
        }
        let refusal: Option<Refusal> = serde_json::from_slice(body).ok();
        let code = refusal
            .map(|refusal| refusal.error)
            .filter(|code| CODES.contains(&&**code));
        let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
        NoToken::new(format!("{} answered {status}{code}", self.token_url))
    }
}

/// RFC 6749, section 5.2.
const CODES: [&str; 6] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
];
/// How long before its end a token is renewed, at most.
const EARLY: Duration = Duration::from_secs(30);
/// For how long a token is used whose server says nothing, or more than this.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// How long nobody asks after a failure.
const SELDOM: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
struct Answer {
    access_token: SecretString,
    token_type: String,
    #[serde(default)]
    expires_in: Option<u64>,
}

fn is_here(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

impl<T: Transport> TokenSource for ClientCredentials<T> {
    fn token<'a>(&'a self, rejected: Option<&'a SecretString>) -> Fetching<'a> {
        Box::pin(async move { Ok(self.current(rejected).await?) })
    }
}

impl<T> fmt::Debug for ClientCredentials<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCredentials")
            .field("token_url", &self.token_url)
            .field("client_id", &self.client_id)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
