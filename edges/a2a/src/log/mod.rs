//! The log of a task: its truth, from which the task is folded.
