use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use http::{HeaderMap, Response};
use http_body_util::BodyExt;

use super::transport::ReplyBody;

/// Takes the details of a status away where they are no base64, from the head and from the
/// trailers: `tonic` takes it for granted that they are, and panics.
pub(super) fn readable(response: Response<ReplyBody>) -> Response<ReplyBody> {
    let (mut head, body) = response.into_parts();
    check(&mut head.headers);
    let body = body.map_frame(|mut frame| {
        if let Some(trailers) = frame.trailers_mut() {
            check(trailers);
        }
        frame
    });
    Response::from_parts(head, body.boxed_unsync())
}

fn check(headers: &mut HeaderMap) {
    let mut details = headers.get_all(DETAILS).iter();
    if details.any(|details| BASE64.decode(details).is_err()) {
        tracing::debug!("a status has details that are no base64");
        headers.remove(DETAILS);
    }
}

const DETAILS: &str = "grpc-status-details-bin";

/// With padding or without, as gRPC has it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
