//! Made by `cargo run -p xtask -- generate`; `check` says whether it is fresh.

/// `lf.a2a.v1`
pub(crate) mod a2a {
    #![allow(
        clippy::all,
        clippy::exhaustive_enums,
        clippy::exhaustive_structs,
        clippy::use_self,
        clippy::must_use_candidate,
        clippy::missing_errors_doc,
        clippy::return_self_not_must_use,
        dead_code,
        missing_debug_implementations,
        missing_docs,
        rust_2018_idioms,
        unreachable_pub,
        reason = "the generator has its own style, and makes what not every feature uses"
    )]
    include!("generated/lf.a2a.v1.rs");
}

/// `google.rpc`
pub(crate) mod rpc {
    #![allow(
        clippy::exhaustive_structs,
        missing_debug_implementations,
        missing_docs,
        unreachable_pub,
        reason = "the generator has its own style"
    )]
    include!("generated/google.rpc.rs");
}
