use std::ffi::OsStr;

/// A kind of file, told by its extension.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Language {
    pub(crate) name: &'static str,
    /// Other names, in lower case.
    aliases: &'static [&'static str],
    extensions: &'static [&'static str],
    /// Whether "lines of code" counts it.
    pub(crate) is_code: bool,
}

impl Language {
    /// Finds a language by one of its names.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        let name = name.to_lowercase();
        LANGUAGES.iter().find(|language| {
            language.name.to_lowercase() == name || language.aliases.contains(&name.as_str())
        })
    }

    /// Finds the language of an extension.
    pub(crate) fn of_extension(extension: &OsStr) -> Option<&'static Self> {
        let extension = extension.to_str()?;
        LANGUAGES.iter().find(|language| {
            language
                .extensions
                .iter()
                .any(|e| e.eq_ignore_ascii_case(extension))
        })
    }
}

/// Which files a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    Language(&'static Language),
    /// Every programming language.
    Code,
    /// One extension, without the dot.
    Extension(String),
}

impl Filter {
    pub(crate) fn accepts(&self, extension: Option<&OsStr>) -> bool {
        let Some(extension) = extension else {
            return false;
        };
        match self {
            Self::Language(language) => {
                Language::of_extension(extension).is_some_and(|found| found == *language)
            }
            Self::Code => Language::of_extension(extension).is_some_and(|found| found.is_code),
            Self::Extension(wanted) => extension
                .to_str()
                .is_some_and(|found| found.eq_ignore_ascii_case(wanted)),
        }
    }

    /// For a sentence: "Rust", "code", ".txt".
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Language(language) => language.name.to_owned(),
            Self::Code => "code".to_owned(),
            Self::Extension(extension) => format!(".{extension}"),
        }
    }
}

const fn code(
    name: &'static str,
    aliases: &'static [&'static str],
    extensions: &'static [&'static str],
) -> Language {
    Language {
        name,
        aliases,
        extensions,
        is_code: true,
    }
}

const fn data(
    name: &'static str,
    aliases: &'static [&'static str],
    extensions: &'static [&'static str],
) -> Language {
    Language {
        name,
        aliases,
        extensions,
        is_code: false,
    }
}

const LANGUAGES: &[Language] = &[
    code("Rust", &["rs"], &["rs"]),
    code("Python", &["py"], &["py", "pyi"]),
    code("JavaScript", &["js"], &["js", "mjs", "cjs", "jsx"]),
    code("TypeScript", &["ts"], &["ts", "tsx", "mts", "cts"]),
    code("Go", &["golang"], &["go"]),
    code("C", &[], &["c", "h"]),
    code("C++", &["cpp"], &["cpp", "cc", "cxx", "hpp", "hh", "hxx"]),
    code("C#", &["csharp"], &["cs"]),
    code("Java", &[], &["java"]),
    code("Kotlin", &[], &["kt", "kts"]),
    code("Scala", &[], &["scala"]),
    code("Swift", &[], &["swift"]),
    code("Dart", &[], &["dart"]),
    code("Ruby", &["rb"], &["rb"]),
    code("PHP", &[], &["php"]),
    code("Perl", &[], &["pl", "pm"]),
    code("Lua", &[], &["lua"]),
    code("R", &[], &["r"]),
    code("Julia", &[], &["jl"]),
    code("Haskell", &[], &["hs"]),
    code("OCaml", &[], &["ml", "mli"]),
    code("Elixir", &[], &["ex", "exs"]),
    code("Erlang", &[], &["erl", "hrl"]),
    code("Zig", &[], &["zig"]),
    code("MoonBit", &[], &["mbt"]),
    code("Nix", &[], &["nix"]),
    code("Shell", &["bash", "sh"], &["sh", "bash", "zsh"]),
    code("SQL", &[], &["sql"]),
    code("Assembly", &["assembler"], &["s", "asm"]),
    code("Protobuf", &["proto", "protocol-buffers"], &["proto"]),
    code("Vue", &[], &["vue"]),
    code("Svelte", &[], &["svelte"]),
    data("HTML", &[], &["html", "htm"]),
    data("CSS", &[], &["css", "scss"]),
    data("JSON", &[], &["json"]),
    data("YAML", &["yml"], &["yml", "yaml"]),
    data("TOML", &[], &["toml"]),
    data("XML", &[], &["xml"]),
    data("CSV", &[], &["csv"]),
    data("Markdown", &["md"], &["md", "markdown"]),
    data("Plain text", &["txt"], &["txt"]),
    data("LaTeX", &["tex"], &["tex"]),
];
