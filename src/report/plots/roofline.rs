//! The roofline: what memory and units allow, and where each kernel stands.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::{
    bars::draw,
    style::{GRID, INK, PAPER, colour, letters},
};
use crate::report::{
    figures::peak,
    results::{Device, Row},
};

const SIZE: (u32, u32) = (760, 520);

/// Operations for each byte that a kernel moves from and to memory: by the model behind the caches, or else at best.
fn intensity(row: &Row) -> f64 {
    let least = row.figures.least_bytes;
    let moved = row
        .modelled
        .as_ref()
        .map_or(least, |time| time.memory_bytes);
    row.figures.operations / moved.max(1.0)
}

/// Rates over intensities; nothing where peak or bandwidth is not known.
pub(super) fn roofline(title: &str, how: &str, device: &Device, rows: &[&Row]) -> Option<String> {
    let peak = peak(device, &rows.first()?.problem.input)?;
    let bandwidth = device.memory_bytes_per_second;
    let points: Vec<(&str, f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            // Of no operations a logarithm has nothing to show.
            let rate = row
                .figures
                .operations_per_second
                .filter(|rate| *rate > 0.0)?;
            Some((row.kernel.as_str(), intensity(row), rate / 1e12))
        })
        .collect();
    if points.is_empty() || bandwidth <= 0.0 {
        return None;
    }
    let (peak, bandwidth) = (peak / 1e12, bandwidth / 1e12);
    let ridge = peak / bandwidth;
    let fold = |start: f64, f: fn(f64, f64) -> f64, of: fn(&(&str, f64, f64)) -> f64| {
        points.iter().map(of).fold(start, f)
    };
    let left = fold(ridge / 4.0, f64::min, |point| point.1) / 2.0;
    let right = fold(ridge * 8.0, f64::max, |point| point.1) * 2.0;
    let low = fold(peak / 100.0, f64::min, |point| point.2) / 2.0;
    let high = peak * 2.0;
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
            .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(letters(15))
            .axis_desc_style(letters(16))
            .x_label_formatter(&|value| super::digits(*value))
            .y_label_formatter(&|value| super::digits(*value))
            .x_desc("operations for each byte of memory traffic")
            .y_desc(format!("TFLOP/s, {how}"))
            .draw()?;
        let roof = [(left, left * bandwidth), (ridge, peak), (right, peak)];
        let roof = roof.map(|(x, y)| (x, y.max(low)));
        chart.draw_series(LineSeries::new(roof, INK.stroke_width(2)))?;
        for (number, (name, x, y)) in points.iter().enumerate() {
            let colour = colour(number % 7);
            chart.draw_series([Circle::new((*x, *y), 8, colour.filled())])?;
            // White or black, whichever is read better on the colour.
            let mark = number + 1;
            let middle = Pos::new(HPos::Center, VPos::Center);
            let digits = letters(12).pos(middle).color(&RGBColor(0, 0, 0));
            let at = chart.backend_coord(&(*x, *y));
            root.draw_text(&mark.to_string(), &digits, at)?;
            let at = 14 + 22 * number as i32;
            side.draw(&Circle::new((12, at + 6), 8, colour.filled()))?;
            side.draw_text(&mark.to_string(), &digits, (12, at + 7))?;
            side.draw_text(name, &letters(15), (26, at))?;
        }
        Ok(())
    })?;
    Some(svg)
}
