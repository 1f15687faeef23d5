use std::env;

/// What the environment says.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) http_port: u16,
    pub(crate) streaming: bool,
    pub(crate) push: bool,
    pub(crate) extended_card: bool,
    pub(crate) required_extension: bool,
    pub(crate) any_input: bool,
}

impl Settings {
    pub(crate) fn from_env() -> Result<Self, String> {
        port("SUT_GRPC_PORT")?;
        Ok(Self {
            http_port: port("SUT_HTTP_PORT")?,
            streaming: switch("SUT_STREAMING", true)?,
            push: switch("SUT_PUSH", true)?,
            extended_card: switch("SUT_EXT_CARD", true)?,
            required_extension: switch("SUT_REQUIRED_EXT", false)?,
            any_input: switch("SUT_ANY_INPUT", false)?,
        })
    }
}

fn port(name: &str) -> Result<u16, String> {
    env::var(name).map_or(Ok(0), |port| {
        port.parse()
            .map_err(|_| format!("{name} is {port:?}, which is no port"))
    })
}

fn switch(name: &str, default: bool) -> Result<bool, String> {
    match env::var(name).as_deref() {
        Err(_) => Ok(default),
        Ok("0") => Ok(false),
        Ok("1") => Ok(true),
        Ok(other) => Err(format!("{name} is {other:?}; 0 or 1 is expected")),
    }
}
