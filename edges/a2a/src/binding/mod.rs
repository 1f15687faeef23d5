//! Bindings of the operations to wires.
