//! The library as other programs use it, and the profiles that it carries.

mod library;
mod profiles;
