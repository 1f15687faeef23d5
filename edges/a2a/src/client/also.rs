use http::HeaderValue;

use super::connection::Client;

impl<T> Client<T> {
    /// Asks for one more extension with every request.
    pub(crate) fn asking_also(mut self, uri: &str) -> Self {
        let known = self.extensions.as_ref().and_then(|line| line.to_str().ok());
        let line = match known {
            Some(known) if known.split(',').any(|known| known.trim() == uri) => return self,
            Some(known) => format!("{known},{uri}"),
            None => uri.to_owned(),
        };
        if let Ok(line) = HeaderValue::from_str(&line) {
            self.extensions = Some(line);
        }
        self
    }
}
