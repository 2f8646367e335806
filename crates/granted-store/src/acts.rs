//! Lock files by which a process shows that it still acts.
