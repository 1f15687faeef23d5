use super::{Findings, address};
use crate::model::{AgentInterface, Bounds};

/// Where the agent answers.
pub(super) fn check(interfaces: &[AgentInterface], found: &mut Findings) {
    if interfaces.is_empty() {
        found.fault("supportedInterfaces", "at least one is required");
    }
    for (index, interface) in interfaces.iter().enumerate() {
        let path = |member: &str| format!("supportedInterfaces[{index}].{member}");
        url(interface, &path("url"), found);
        binding(interface, &path("protocolBinding"), found);
        tenant(interface, &path("tenant"), found);
        version(interface, &path("protocolVersion"), found);
        if let Some(first) = interfaces[..index].iter().position(|it| it == interface) {
            let path = format!("supportedInterfaces[{index}]");
            found.advise(path, format!("is supportedInterfaces[{first}] again"));
        }
    }
}

fn url(interface: &AgentInterface, path: &str, found: &mut Findings) {
    let url = &*interface.url;
    if !found.required(path, url) {
        return;
    }
    match &*interface.protocol_binding {
        "GRPC" => address::grpc(found, path, url),
        // Paths are written behind it (A2A-REST-1).
        "HTTP+JSON" => {
            if address::web(found, path, url).is_some_and(|rest| rest.contains(['?', '#'])) {
                found.fault(
                    path,
                    "must have no query and no fragment: routes are below it",
                );
            }
        }
        "JSONRPC" => {
            if address::web(found, path, url).is_some_and(|rest| rest.contains('#')) {
                found.fault(path, "must have no fragment");
            }
        }
        // What else speaks HTTP knows best what its addresses look like.
        _ => {
            if !address::is_uri(url) {
                found.fault(path, "must be an absolute URI");
            }
        }
    }
}

/// The names of the protocol are compared exactly (A2A-CARD-14), any other binding is a URI (A2A-CARD-13).
fn binding(interface: &AgentInterface, path: &str, found: &mut Findings) {
    let binding = &*interface.protocol_binding;
    if !found.required(path, binding)
        || CORE_BINDINGS.contains(&binding)
        || address::is_uri(binding)
    {
        return;
    }
    let meant = CORE_BINDINGS
        .iter()
        .find(|core| core.eq_ignore_ascii_case(binding));
    found.fault(
        path,
        match meant {
            Some(core) => format!("must be written {core}"),
            None => "must be JSONRPC, GRPC, HTTP+JSON, or a URI".to_owned(),
        },
    );
}

fn tenant(interface: &AgentInterface, path: &str, found: &mut Findings) {
    let tenant = &*interface.tenant;
    let most = Bounds::default().id_bytes;
    if tenant.len() > most {
        found.fault(path, format!("longer than {most} bytes"));
    }
    if tenant.chars().any(char::is_control) {
        found.fault(path, "must not hold control characters");
    }
    // It stands before the routes in a path (A2A-REST-9).
    if interface.protocol_binding == "HTTP+JSON" && FIRST_SEGMENTS.contains(&tenant) {
        found.fault(path, "must not be the name of a route");
    }
}

/// `1.0`; a patch number means nothing (A2A-SVC-2, A2A-CARD-15).
fn version(interface: &AgentInterface, path: &str, found: &mut Findings) {
    let version = &*interface.protocol_version;
    if !found.required(path, version) {
        return;
    }
    let numbers: Vec<_> = version.split('.').collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !(2..=3).contains(&numbers.len()) || !numbers.iter().all(is_number) {
        found.fault(path, "must be a major and a minor number, such as 1.0");
    } else if let [major, minor, _] = numbers[..] {
        found.advise(path, format!("has a patch number: write {major}.{minor}"));
    }
}

const CORE_BINDINGS: [&str; 3] = ["JSONRPC", "GRPC", "HTTP+JSON"];

/// What paths of HTTP+JSON begin with.
const FIRST_SEGMENTS: [&str; 4] = [
    "message:send",
    "message:stream",
    "tasks",
    "extendedAgentCard",
];
