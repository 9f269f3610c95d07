//! Rates over sizes.

use plotters::prelude::*;

use super::{
    bars::draw,
    style::{GRID, INK, PAPER, colour, letters},
};
use crate::report::results::Row;

const SIZE: (u32, u32) = (760, 460);
/// Lines that have a colour of their own: more cannot be told apart.
const LINES: usize = 7;

/// TFLOP/s over n of n×n×n, of the naive kernel and the fastest ones; nothing if there is but one size.
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
    // The first of the ladder, then the fastest at their largest size.
    if lines.len() > LINES {
        let last = |points: &[(u32, f64)]| points.last().map_or(0.0, |point| point.1);
        lines[1..].sort_by(|a, b| last(&b.1).total_cmp(&last(&a.1)));
        lines.truncate(LINES);
    }
    let points = || lines.iter().flat_map(|(_, points)| points);
    // Sizes side by side, whatever lies between them: tests take powers of two and others.
    let mut sizes: Vec<u32> = points().map(|point| point.0).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let place = |size: u32| sizes.binary_search(&size).unwrap_or(0) as f64;
    let [low, high] = [
        points().map(|p| p.1).fold(f64::INFINITY, f64::min),
        points().map(|p| p.1).fold(0.0, f64::max),
    ];
    if sizes.len() < 2 || low <= 0.0 {
        return None;
    }
    let mut svg = String::new();
    draw(&mut svg, SIZE, |root| {
        root.fill(&PAPER)?;
        let (head, body) = root.split_vertically(36);
        head.draw_text(title, &letters(19), (12, 10))?;
        let (body, side) = body.split_horizontally(SIZE.0 - 210);
        let mut chart = ChartBuilder::on(&body)
            .margin(8)
            .x_label_area_size(48)
            .y_label_area_size(70)
            .build_cartesian_2d(
                -0.3..sizes.len() as f64 - 0.7,
                (low * 0.7..high * 1.4).log_scale(),
            )?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(letters(15))
            .axis_desc_style(letters(16))
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
        for (number, (name, points)) in lines.iter().enumerate() {
            let colour = colour(number);
            let points = || points.iter().map(|(size, rate)| (place(*size), *rate));
            let line = LineSeries::new(points(), colour.stroke_width(2));
            chart.draw_series(line)?;
            let marks = points().map(|point| Circle::new(point, 4, colour.filled()));
            chart.draw_series(marks)?;
            let y = 20 + 24 * number as i32;
            side.draw(&Rectangle::new([(4, y), (17, y + 13)], colour.filled()))?;
            side.draw_text(name, &letters(15), (23, y))?;
        }
        Ok(())
    })?;
    Some(svg)
}
