message! {
    /// Asks for the card of a caller that has authenticated.
    GetExtendedAgentCardRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
    }
}

impl GetExtendedAgentCardRequest {
    /// Without a tenant.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }
}

impl Default for GetExtendedAgentCardRequest {
    fn default() -> Self {
        Self::new()
    }
}
