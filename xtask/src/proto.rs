//! Messages and service of gRPC, from our own descriptions of them.

use std::{env, error::Error, fs, path::Path, process};

/// Where the code goes.
pub(crate) const GENERATED: &str = "edges/a2a/src/proto/generated";
const SOURCES: &str = "edges/a2a/proto";

/// Names of files, and what is in them.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// Makes the code.
pub(crate) fn generate(repository: &Path) -> Result<Files, Box<dyn Error>> {
    let descriptors = protox::compile(["a2a.proto", "rpc.proto"], [repository.join(SOURCES)])?;
    let scratch = env::temp_dir().join(format!("xtask-proto-{}", process::id()));
    fs::create_dir_all(&scratch)?;
    let files = write(descriptors, &scratch).and_then(|()| read(&scratch));
    fs::remove_dir_all(&scratch)?;
    files
}

fn write(
    descriptors: protox::prost_reflect::prost_types::FileDescriptorSet,
    to: &Path,
) -> Result<(), Box<dyn Error>> {
    tonic_prost_build::configure()
        // A client needs one call for each operation, and that has no need of code of its own.
        .build_client(false)
        .build_transport(false)
        // Ours says what is wrong with a request in the way of the protocol.
        .codec_path("crate::proto::Codec")
        // One order on the wire, whatever the build.
        .btree_map(".")
        // Somebody's text would be in each `Debug`, secrets of webhooks too.
        .skip_debug(["."])
        .emit_rerun_if_changed(false)
        .out_dir(to)
        .compile_fds(descriptors)?;
    Ok(())
}

fn read(from: &Path) -> Result<Files, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let text = fs::read(entry.path())?;
        files.push((entry.file_name().to_string_lossy().into_owned(), text));
    }
    files.sort();
    Ok(files)
}
