use std::marker::PhantomData;

use prost::Message;
use tonic::{
    Status,
    codec::{self, DecodeBuf, EncodeBuf},
};

use super::status_of;
use crate::model::{Error, Invalid};

/// Messages of one type to the peer, of another from it.
#[derive(Debug)]
pub(crate) struct Codec<T, U>(PhantomData<fn(T) -> U>);

impl<T, U> Default for Codec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> codec::Codec for Codec<T, U>
where
    T: Message + 'static,
    U: Message + Default + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = Encoder<T>;
    type Decoder = Decoder<U>;

    fn encoder(&mut self) -> Encoder<T> {
        Encoder(PhantomData)
    }

    fn decoder(&mut self) -> Decoder<U> {
        Decoder(PhantomData)
    }
}

#[derive(Debug)]
pub(crate) struct Encoder<T>(PhantomData<fn(T)>);

impl<T: Message> codec::Encoder for Encoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        message
            .encode(buffer)
            .map_err(|_| Status::internal("a message did not fit"))
    }
}

#[derive(Debug)]
pub(crate) struct Decoder<U>(PhantomData<fn() -> U>);

impl<U: Message + Default> codec::Decoder for Decoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // A request that is no such message is a fault of whoever sent it, and is told as every
        // other one (O-G04).
        U::decode(buffer).map(Some).map_err(|error| {
            status_of(&Error::from(Invalid::one(
                "",
                format!("not the message of this operation: {error}"),
            )))
        })
    }
}
