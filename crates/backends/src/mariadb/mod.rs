//! MariaDB, with the engines InnoDB and MyRocks, and MySQL, by sqlx.
