//! Reading of request bodies, up to the bound.

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::answer::Problem;
use crate::limits;

/// The whole body.
///
/// # Errors
/// 413 for one that is too long, 400 for one that breaks off.
pub(super) async fn read(body: Body) -> Result<Bytes, Problem> {
    match Limited::new(body, limits::BODY_BYTES_MAX).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Problem::too_large()),
        Err(_) => Err(Problem::invalid_request("body broke off")),
    }
}
