message! {
    /// A place where an agent answers.
    AgentInterface {
        /// Where. For gRPC `host:port`.
        url: String = "url", required;
        /// `JSONRPC`, `GRPC`, `HTTP+JSON`, or a URI.
        protocol_binding: String = "protocolBinding" | "protocol_binding", required;
        /// What to put into the tenant of each request.
        tenant: String = "tenant" as Id;
        /// The version of the protocol, as in `1.0`.
        protocol_version: String = "protocolVersion" | "protocol_version", required;
    }
}

impl AgentInterface {
    /// A JSON-RPC endpoint that speaks version 1.0.
    #[must_use]
    pub fn json_rpc(url: impl Into<String>) -> Self {
        Self::new(url, "JSONRPC")
    }

    /// An HTTP+JSON interface that speaks version 1.0: what the routes are below.
    #[must_use]
    pub fn rest(url: impl Into<String>) -> Self {
        Self::new(url, "HTTP+JSON")
    }

    /// A gRPC interface that speaks version 1.0, at a `host:port` without a scheme (A2A-GRPC-6).
    #[must_use]
    pub fn grpc(authority: impl Into<String>) -> Self {
        Self::new(authority, "GRPC")
    }

    /// The same in another version, as in `0.3`.
    #[must_use]
    pub fn with_version(mut self, protocol_version: impl Into<String>) -> Self {
        self.protocol_version = protocol_version.into();
        self
    }

    /// The same in a tenant: several agents, or several customers of one, may share an address.
    #[must_use]
    pub fn in_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// A binding of version 1.0 at a place.
    #[must_use]
    pub fn new(url: impl Into<String>, protocol_binding: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            protocol_binding: protocol_binding.into(),
            protocol_version: "1.0".to_owned(),
            ..Self::blank()
        }
    }
}
