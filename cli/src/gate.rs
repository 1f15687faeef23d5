use std::{net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use futures_util::FutureExt;
use portcullis::{BoxAgent, SessionControl};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    log::{Limits, Retention},
    model::{AgentCard, AgentSkill},
    server::Server,
    signing::CardSigner,
};
use portcullis_http::server::{Detach, TurnService};
use portcullis_net::Tls;
use portcullis_sqlite::{Database, SqliteLog};
use tokio::net::TcpListener;
use tower::{Layer, ServiceExt};

use crate::{
    args::Webhooks, complaint::Complaint, edges::Edges, exit::INTERRUPTED, guard::Guard,
    proxies::Proxies, stop::Stop, webhooks,
};

/// How long turns and connections may take to end after the program was asked to stop.
/// Whoever waits for the process, a terminal or a supervisor, waits so long (O-D04).
const GRACE: Duration = Duration::from_millis(1500);

/// How long browsers remember that this host has TLS (A2A-SEC-15): half a year.
const HSTS: Duration = Duration::from_secs(182 * 24 * 60 * 60);

/// Where tasks live.
#[derive(Debug)]
pub(crate) enum Store {
    Memory,
    File(PathBuf),
}

impl Store {
    pub(crate) fn from_flag(flag: &str) -> Self {
        match flag {
            "memory" => Self::Memory,
            file => Self::File(file.into()),
        }
    }

    /// Opens the file, if it is one.
    pub(crate) fn open(&self) -> Result<Option<Database>, Complaint> {
        match self {
            Self::Memory => Ok(None),
            Self::File(path) => Database::open(path)
                .map(Some)
                .map_err(|error| Complaint::nothing_to_serve("no store for tasks", error)),
        }
    }
}

/// An agent behind the gate, on a socket that listens already.
#[derive(Debug)]
pub(crate) struct Gate {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    guard: Option<Guard>,
    proxies: Proxies,
    turns: Option<(String, TurnService)>,
    server: Server,
}

/// What the card says of an agent.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) examples: Vec<&'static str>,
}

/// What is around an agent: who reaches it, and how.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    pub(crate) tls: Option<Tls>,
    /// Where callers reach it, if not at the address that it listens on.
    pub(crate) url: Option<String>,
    /// Who is let in; without it everybody is.
    pub(crate) guard: Option<Guard>,
    /// Who may say where a request comes from.
    pub(crate) proxies: Proxies,
    /// Who signs the card, if anybody does.
    pub(crate) signer: Option<CardSigner>,
    /// Where webhooks may be, if there are any.
    pub(crate) webhooks: Option<Webhooks>,
    /// The plain edge, if there is one.
    pub(crate) plain: Option<Plain>,
    /// Where tasks live; in memory without it.
    pub(crate) database: Option<Database>,
}

/// Where turns are served as they are.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) path: String,
    /// How long a turn may go on without its caller.
    pub(crate) grace: Option<Duration>,
}

impl Plain {
    fn serve(self, agent: BoxAgent) -> (String, TurnService) {
        let mut turns = TurnService::new(agent);
        if let Some(grace) = self.grace {
            turns = turns.detach(Detach::new(grace));
        }
        (self.path, turns)
    }
}

impl Gate {
    /// Opens the socket, and takes care of tasks that an earlier process left behind. Without a
    /// control plane, tasks that run take no messages.
    pub(crate) async fn open(
        listen: &str,
        agent: BoxAgent,
        about: About,
        control: Option<Arc<dyn SessionControl>>,
        around: Surroundings,
    ) -> Result<Self, Complaint> {
        let Surroundings {
            tls,
            url: public,
            guard,
            proxies,
            signer,
            webhooks,
            plain,
            database,
        } = around;
        let listener = portcullis_net::bind(listen)
            .await
            .map_err(|error| Complaint::nothing_to_serve("cannot listen", error))?;
        let address = listener
            .local_addr()
            .map_err(|error| Complaint::nothing_to_serve("cannot listen", error))?;
        let url = public.unwrap_or_else(|| url(address, tls.as_ref()));
        if guard.is_some() && tls.is_none() && !address.ip().is_loopback() {
            tracing::warn!("keys come in the clear: put TLS in front, or serve it with --tls-cert");
        }
        let push = webhooks.map(|may| webhooks::push(may, database.as_ref()));
        let mut card = card(&url, about);
        if guard.is_some() {
            Guard::declare(&mut card);
        }
        let turns = plain.map(|plain| plain.serve(agent.clone()));
        let mut builder = Server::agent_builder(agent, card);
        if let Some(push) = push {
            builder = builder.push(push);
        }
        if let Some(signer) = signer {
            builder = builder.sign_cards(signer);
        }
        if let Some(database) = database {
            let log = SqliteLog::new(database, Retention::default(), Limits::default())
                .map_err(|error| Complaint::nothing_to_serve("no store for tasks", error))?;
            builder = builder.log(Arc::new(log));
        }
        if let Some(control) = control {
            builder = builder.session_control(control);
        }
        let server = builder
            .try_build()
            .map_err(|error| Complaint::nothing_to_serve("nothing to serve", error))?;
        server
            .recover()
            .await
            .map_err(|error| Complaint::nothing_to_serve("cannot read the store", error))?;
        Ok(Self {
            listener,
            address,
            tls,
            guard,
            proxies,
            turns,
            server,
        })
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        url(self.address, self.tls.as_ref())
    }

    /// Serves until the program is asked to stop, or the future is dropped. Turns that run
    /// have a grace then, unless the program is asked again.
    pub(crate) async fn serve(self, stop: &Stop) -> ExitCode {
        let mut http = portcullis_net::Server::new().grace(GRACE);
        if let Some(tls) = self.tls {
            http = http.tls(tls).hsts(HSTS);
        }
        let a2a = OnePort::with_layout(self.server.clone(), &Layout::new());
        let path = self.turns.as_ref().map(|(path, _)| path.clone());
        let edges = Edges::new(a2a, self.turns);
        let proxies = self.proxies;
        let tell = move |request| proxies.tell(request);
        let http = match self.guard {
            None => {
                let service = edges.map_request(tell);
                http.serve(self.listener, service, stop.asked()).boxed()
            }
            Some(guard) => {
                let service = guard.layer(path).layer(edges).map_request(tell);
                http.serve(self.listener, service, stop.asked()).boxed()
            }
        };
        // Both at once: a connection ends when its stream does, and that the server ends.
        let turns = async {
            stop.asked().await;
            self.server.shut_down(GRACE).await;
        };
        let ended = async { tokio::join!(http, turns) };
        tokio::select! {
            _ = ended => ExitCode::SUCCESS,
            () = stop.asked_again() => ExitCode::from(INTERRUPTED),
        }
    }
}

fn url(address: SocketAddr, tls: Option<&Tls>) -> String {
    let scheme = if tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{address}/")
}

fn card(url: &str, about: About) -> AgentCard {
    let interfaces = Layout::new().interfaces(url);
    let mut card =
        AgentCard::of_interfaces(about.name.clone(), about.description.clone(), interfaces);
    env!("CARGO_PKG_VERSION").clone_into(&mut card.version);
    let skill = AgentSkill::new("main", about.name, about.description).with_tags(["text"]);
    card.skills = vec![
        about
            .examples
            .into_iter()
            .fold(skill, AgentSkill::with_example),
    ];
    card
}
