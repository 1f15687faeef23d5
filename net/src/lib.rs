//! Serving and calling over HTTP for the Portcullis program.
