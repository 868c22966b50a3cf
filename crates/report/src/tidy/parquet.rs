//! The tidy table as Parquet: texts are required UTF-8, figures optional doubles, so that what is not known is null.

use super::{NUMBERS, REASON, Row, TEXTS, rows};
use crate::{cost::Cost, document::Document};
use parquet::{
    basic::{LogicalType, Repetition, Type as Physical},
    data_type::{ByteArray, ByteArrayType, DoubleType},
    errors::{ParquetError, Result},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::{Type, TypePtr},
};
use std::sync::Arc;

/// The runs as a Parquet file, with the rows and columns of [`render_tidy`](crate::render_tidy). `costs` are those of the runs.
///
/// # Errors
/// None that a file in memory can have; the writer reserves the right.
pub fn render_parquet(documents: &[Document], costs: &[Cost]) -> Result<Vec<u8>> {
    let rows = rows(documents, costs);
    let mut file = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(WriterProperties::default()))?;
    let mut group = file.next_row_group()?;
    for column in 0..TEXTS.len() {
        write_texts(&mut group, rows.iter().map(|row| row.texts[column].as_str()))?;
    }
    for column in 0..NUMBERS.len() {
        write_numbers(&mut group, rows.iter().map(|row| row.numbers[column]))?;
    }
    write_texts(&mut group, rows.iter().map(|row: &Row| row.reason.as_str()))?;
    group.close()?;
    file.into_inner()
}

fn schema() -> Result<TypePtr> {
    let text = |name: &&str| {
        let text = Type::primitive_type_builder(name, Physical::BYTE_ARRAY).with_repetition(Repetition::REQUIRED);
        text.with_logical_type(Some(LogicalType::String)).build()
    };
    let number =
        |name| Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(Repetition::OPTIONAL).build();
    let texts = TEXTS.iter().map(text);
    let columns = texts.chain(NUMBERS.into_iter().map(number)).chain([text(&REASON)]);
    let columns = columns.map(|column| column.map(Arc::new)).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("figures").with_fields(columns).build()?))
}

type Group<'a> = SerializedRowGroupWriter<'a, Vec<u8>>;

fn write_texts<'a>(group: &mut Group<'_>, texts: impl Iterator<Item = &'a str>) -> Result<()> {
    let texts: Vec<ByteArray> = texts.map(ByteArray::from).collect();
    let mut column = group.next_column()?.ok_or_else(no_column)?;
    column.typed::<ByteArrayType>().write_batch(&texts, None, None)?;
    column.close()
}

fn write_numbers(group: &mut Group<'_>, numbers: impl Iterator<Item = Option<f64>> + Clone) -> Result<()> {
    let is_known: Vec<i16> = numbers.clone().map(|number| number.is_some().into()).collect();
    let known: Vec<f64> = numbers.flatten().collect();
    let mut column = group.next_column()?.ok_or_else(no_column)?;
    column.typed::<DoubleType>().write_batch(&known, Some(&is_known), None)?;
    column.close()
}

fn no_column() -> ParquetError {
    ParquetError::General("more columns than the schema has".into())
}
