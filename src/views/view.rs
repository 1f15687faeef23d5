/// Defines a view: its required members, its optional ones, and what it keeps of those that it
/// does not know.
macro_rules! view {
    (
        $(#[$doc:meta])*
        $view:ident = $type_name:literal {
            $($(#[$required_doc:meta])* $required:ident: $required_ty:ty = $required_name:literal,)*
        } optional {
            $($(#[$optional_doc:meta])* $optional:ident: $optional_ty:ty = $optional_name:literal,)*
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $view {
            $($(#[$required_doc])* pub $required: $required_ty,)*
            $($(#[$optional_doc])* pub $optional: Option<$optional_ty>,)*
            extra: $crate::Extra,
        }

        impl $view {
            /// A view with what it needs at least.
            #[must_use]
            pub fn new($($required: impl Into<$required_ty>),*) -> Self {
                Self {
                    $($required: $required.into(),)*
                    $($optional: None,)*
                    extra: $crate::Extra::new(),
                }
            }

            /// Members that this version does not know.
            #[must_use]
            pub const fn extra(&self) -> &$crate::Extra {
                &self.extra
            }

            /// Members that this version does not know, to be edited.
            pub const fn extra_mut(&mut self) -> $crate::ExtraMut<'_> {
                const KNOWN: &[&str] = &["type", $($required_name,)* $($optional_name,)*];
                $crate::ExtraMut::new(&mut self.extra, KNOWN)
            }

            fn read(text: &str) -> Result<Self, $crate::DecodeError> {
                use $crate::views::field::Field;
                let mut extra = $crate::Extra::new();
                $(let mut $required = None;)*
                $(let mut $optional = None;)*
                for member in $crate::json::Members::read(text)?.iter() {
                    match str::from_utf8(&member.name()) {
                        Ok("type") => {}
                        $(Ok($required_name) => {
                            $required = Some(<$required_ty as Field>::read(member)?);
                        })*
                        $(Ok($optional_name) => {
                            $optional = Some(<$optional_ty as Field>::read(member)?);
                        })*
                        _ => extra.push(member),
                    }
                }
                Ok(Self {
                    $($required: $required.ok_or_else(|| $crate::DecodeError::missing($required_name))?,)*
                    $($optional,)*
                    extra,
                })
            }

            fn write(&self, mut members: $crate::json::Writer<'_, String>) {
                use $crate::views::field::Field;
                $(self.$required.write($required_name, &mut members);)*
                $(if let Some(value) = &self.$optional {
                    value.write($optional_name, &mut members);
                })*
                members.end(&self.extra);
            }
        }

        impl $crate::ExtensionView for $view {
            const TYPE: &'static str = $type_name;
        }

        $crate::views::view::serde_of_view!($view);
    };
}

/// What a view needs beside `read` and `write`.
macro_rules! serde_of_view {
    ($view:ident) => {
        impl From<$view> for $crate::Extension {
            fn from(view: $view) -> Self {
                let type_name = <$view as $crate::ExtensionView>::TYPE;
                let mut text = String::new();
                view.write($crate::json::Writer::event(&mut text, type_name));
                Self::checked(type_name, &text)
            }
        }

        impl From<$view> for $crate::AgentEvent {
            fn from(view: $view) -> Self {
                $crate::Extension::from(view).into()
            }
        }

        impl serde::Serialize for $view {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut text = String::new();
                self.write($crate::json::Writer::new(&mut text));
                serde_json::value::RawValue::from_string(text)
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $view {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
                Self::read(raw.get()).map_err(|error| {
                    let type_name = <Self as $crate::ExtensionView>::TYPE;
                    serde::de::Error::custom(error.within(format!("{type_name} event")))
                })
            }
        }
    };
}

pub(super) use serde_of_view;
pub(super) use view;
