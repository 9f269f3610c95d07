//! Rates over sizes.

use plotters::prelude::*;

use super::{
    bars::draw,
    series::{Names, Series, add},
    style::{GRID, INK, PAPER, letters},
};
use crate::report::results::Row;

const SIZE: (u32, u32) = (490, 440);
/// Pixels for the kernels' names.
pub(super) const NAMES: u32 = 182;

/// TFLOP/s over n of n×n×n for all kernels; `None` for a single size.
pub(super) fn sizes(title: &str, how: &str, rows: &[&Row]) -> Option<String> {
    let mut lines: Vec<(&str, Vec<(u32, f64)>)> = Vec::new();
    for row in rows.iter().filter(|row| row.problem.is_cube()) {
        let Some(rate) = row.figures.operations_per_second else {
            continue;
        };
        let point = (row.problem.n, rate / 1e12);
        match lines.iter_mut().find(|(name, _)| *name == row.kernel) {
            Some((_, points)) => points.push(point),
            None => lines.push((&row.kernel, vec![point])),
        }
    }
    for (_, points) in &mut lines {
        points.sort_by_key(|point| point.0);
    }
    let points = || lines.iter().flat_map(|(_, points)| points);
    // Powers of two get a logarithmic axis. Other sizes would have no labels on one; they are placed at equal
    // distances.
    let mut sizes: Vec<u32> = points().map(|point| point.0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if let (Some(&first), Some(&last)) = (sizes.first(), sizes.last())
        && sizes.iter().all(|size| size.is_power_of_two())
    {
        let between = first.ilog2()..=last.ilog2();
        sizes = between.map(|exponent| 1 << exponent).collect();
    }
    let place = |size: u32| sizes.binary_search(&size).unwrap_or(0) as f64;
    let [low, high] = [
        points().map(|p| p.1).fold(f64::INFINITY, f64::min),
        points().map(|p| p.1).fold(0.0, f64::max),
    ];
    if sizes.len() < 2 || low <= 0.0 {
        return None;
    }
    let mut svg = String::new();
    let mut series = Vec::new();
    draw(&mut svg, SIZE, |root| {
        root.fill(&PAPER)?;
        let (head, body) = root.split_vertically(32);
        head.draw_text(title, &letters(14), (8, 10))?;
        let (body, _) = body.split_horizontally(SIZE.0 - NAMES);
        let mut chart = ChartBuilder::on(&body)
            .margin(8)
            .x_label_area_size(38)
            .y_label_area_size(52)
            .build_cartesian_2d(
                0.0..sizes.len() as f64 - 1.0,
                (low * 0.9..high * 1.1).log_scale(),
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(letters(12))
            .axis_desc_style(letters(12))
            .x_labels(2 * sizes.len())
            .x_label_formatter(&|value| {
                let is_size = value.fract() == 0.0 && *value >= 0.0;
                let size = sizes.get(*value as usize).filter(|_| is_size);
                size.map_or_else(String::new, ToString::to_string)
            })
            .y_label_formatter(&|value| super::digits(*value))
            .x_desc("n of n×n×n")
            .y_desc(format!("TFLOP/s, {how}"))
            .draw()?;
        for (kernel, points) in &lines {
            let at = |(size, rate): &(u32, f64)| chart.backend_coord(&(place(*size), *rate));
            let said = points
                .iter()
                .map(|(size, rate)| format!("{} TFLOP/s at {size}", super::digits(*rate)));
            series.push(Series {
                kernel,
                points: points.iter().map(at).collect(),
                alt: said.collect::<Vec<_>>().join(", "),
                rate: points.last().map_or(0.0, |point| point.1),
            });
        }
        Ok(())
    })?;
    let names = Names {
        x: (SIZE.0 - NAMES) as i32 + 16,
        top: 48,
        bottom: SIZE.1 as i32 - 50,
    };
    Some(add(&svg, &series, &names))
}
