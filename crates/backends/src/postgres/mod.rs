//! PostgreSQL, by sqlx.
