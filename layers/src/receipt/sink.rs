use super::Receipt;

/// Takes the receipt of each turn. Also implemented by closures.
pub trait ReceiptSink {
    /// A turn is over.
    ///
    /// It may run inside `drop`, on whatever thread: it must not block. Where a queue is
    /// behind it, that is bounded, and a receipt that finds no place is dropped or counted.
    fn take(&self, receipt: Receipt);
}

impl<F: Fn(Receipt)> ReceiptSink for F {
    fn take(&self, receipt: Receipt) {
        self(receipt);
    }
}
