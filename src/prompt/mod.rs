//! What an agent is asked.

mod wire;

use std::{fmt, sync::Arc};

use crate::json::{Extra, ExtraMut};

/// What an agent is asked in one turn (Agent Handler, section 4).
///
/// Cloning is one reference count, so that a layer that invokes again may keep one.
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt(Arc<Inner>);

#[derive(Clone, Default, PartialEq, Eq)]
struct Inner {
    text: String,
    images: Vec<ImageRef>,
    extra: Extra,
}

impl Prompt {
    /// A prompt of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            text: text.into(),
            ..Inner::default()
        }))
    }

    /// Adds an image.
    #[must_use]
    pub fn with_image(mut self, image: ImageRef) -> Self {
        self.images_mut().push(image);
        self
    }

    /// The text.
    #[must_use]
    pub fn as_text(&self) -> &str {
        &self.0.text
    }

    /// The text, to be edited.
    pub fn text_mut(&mut self) -> &mut String {
        &mut Arc::make_mut(&mut self.0).text
    }

    /// The images. Agents that do not take any ignore them.
    #[must_use]
    pub fn images(&self) -> &[ImageRef] {
        &self.0.images
    }

    /// The images, to be edited.
    pub fn images_mut(&mut self) -> &mut Vec<ImageRef> {
        &mut Arc::make_mut(&mut self.0).images
    }

    /// Members that this version does not know.
    #[must_use]
    pub fn extra(&self) -> &Extra {
        &self.0.extra
    }

    /// Members that this version does not know, to be edited.
    pub fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut Arc::make_mut(&mut self.0).extra, &["text", "images"])
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("text", &self.0.text)
            .field("images", &self.0.images)
            .field("extra", &self.0.extra)
            .finish()
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// An image, in base64.
#[derive(Clone, PartialEq, Eq)]
pub struct ImageRef {
    pub(crate) mime_type: String,
    pub(crate) data: String,
    pub(crate) extra: Extra,
}

impl ImageRef {
    /// An image of a media type, in base64. Nothing is checked here; an edge bounds
    /// what comes in.
    #[must_use]
    pub fn new(mime_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            mime_type: mime_type.into(),
            data: data.into(),
            extra: Extra::new(),
        }
    }

    /// The media type.
    #[must_use]
    pub fn mime_type(&self) -> &str {
        &self.mime_type
    }

    /// The image in base64.
    #[must_use]
    pub fn data(&self) -> &str {
        &self.data
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.extra, &["mimeType", "data"])
    }
}

/// Shows the size of the data, not the data.
impl fmt::Debug for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ImageRef")
            .field("mime_type", &self.mime_type)
            .field("data", &format_args!("{} bytes of base64", self.data.len()))
            .finish_non_exhaustive()
    }
}
