use http::HeaderName;

/// The protocol version of a request (A2A-SVC-2).
pub(crate) static VERSION: HeaderName = HeaderName::from_static("a2a-version");
/// The extensions that a client wants, and those that a server activated (A2A-SVC-13, 14).
pub(crate) static EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
/// The version that we speak.
#[cfg(feature = "client")]
pub(crate) static VERSION_1_0: http::HeaderValue = http::HeaderValue::from_static("1.0");
