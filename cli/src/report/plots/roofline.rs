//! The roofline: the limits of memory and units, and each kernel's place below them.

use plotters::prelude::*;

use super::{
    bars::draw,
    lines::NAMES,
    series::{Names, Series, add},
    style::{GRID, INK, PAPER, letters},
};
use crate::report::{
    figures::peak,
    results::{Device, Row},
};

const SIZE: (u32, u32) = (490, 440);

/// Operations per byte that a kernel moves from and to memory: by the timing model, but of no fewer bytes than A, B and C
/// have. The Infinity Cache may hold them all.
fn intensity(row: &Row) -> f64 {
    let moved = row.modelled.as_ref().map_or(0.0, |time| time.memory_bytes);
    row.figures.operations / moved.max(row.figures.least_bytes).max(1.0)
}

/// Rates over intensities; `None` if peak or bandwidth is not known.
pub(super) fn roofline(title: &str, how: &str, device: &Device, rows: &[&Row]) -> Option<String> {
    let peak = peak(device, &rows.first()?.problem.input)?;
    let bandwidth = device.memory_bytes_per_second;
    let points: Vec<(&str, f64, f64)> = rows
        .iter()
        .filter_map(|row| {
            // A rate of 0 has no place on a logarithmic axis.
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
    // From the first point, or the ridge, to the last.
    let left = fold(ridge, f64::min, |point| point.1) / 1.5;
    let right = fold(ridge, f64::max, |point| point.1) * 1.5;
    let low = fold(peak, f64::min, |point| point.2) / 1.5;
    let high = peak * 1.5;
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
            .build_cartesian_2d((left..right).log_scale(), (low..high).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(letters(12))
            .axis_desc_style(letters(12))
            .x_labels(5)
            .x_label_formatter(&|value| super::digits(*value))
            .y_label_formatter(&|value| super::digits(*value))
            .x_desc("operations for each byte of memory traffic")
            .y_desc(format!("TFLOP/s, {how}"))
            .draw()?;
        let roof = [(left, left * bandwidth), (ridge, peak), (right, peak)];
        let roof = roof.map(|(x, y)| (x, y.max(low)));
        chart.draw_series(LineSeries::new(roof, INK.stroke_width(2)))?;
        series.extend(points.iter().map(|(kernel, x, y)| Series {
            kernel,
            points: vec![chart.backend_coord(&(*x, *y))],
            alt: format!(
                "{} TFLOP/s at {} operations for each byte",
                super::digits(*y),
                super::digits(*x)
            ),
            rate: *y,
        }));
        Ok(())
    })?;
    let names = Names {
        x: (SIZE.0 - NAMES) as i32 + 16,
        top: 48,
        bottom: SIZE.1 as i32 - 50,
    };
    Some(add(&svg, &series, &names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{
        figures,
        results::tests::{results, row},
    };

    #[test]
    fn no_byte_of_the_matrices_is_forgotten() {
        let mut rows = [row("naive", 1024, 1e-3), row("tiled", 1024, 1e-3)];
        let bytes = 3.0 * 4.0 * 1024.0 * 1024.0;
        for (row, moved) in rows.iter_mut().zip([0.0, 2.0 * bytes]) {
            row.modelled.as_mut().expect("a time").memory_bytes = moved;
        }
        let mut run = results(rows.to_vec());
        figures::fill(&mut run);
        let each = 2.0 * 1024.0 * 1024.0 * 1024.0 / bytes;
        assert_eq!(intensity(&run.rows[0]), each);
        assert_eq!(intensity(&run.rows[1]), each / 2.0);
    }
}
