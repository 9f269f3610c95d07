//! Horizontal bars, one below the other, because names are long.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use super::style::{GRID, INK, PAPER, colour, letters};

/// A bar, of one part or several.
pub(super) struct Bar {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
    /// The text behind the bar's end.
    pub(super) label: String,
}

/// A piece of a bar.
pub(super) struct Part {
    /// Index of its colour and of its name in the legend.
    pub(super) name: usize,
    pub(super) value: f64,
}

const WIDTH: u32 = 760;
const ROW: u32 = 28;
const NAMES: u32 = 200;
const LEGEND_COLUMNS: usize = 3;
const LEGEND_ROW: u32 = 22;

/// Draws the bars; `None` if there are none or all are 0. `most` is the end of the axis, if it is fixed.
pub(super) fn horizontal(
    title: &str,
    axis: &str,
    legend: &[String],
    bars: &[Bar],
    most: Option<f64>,
) -> Option<String> {
    let total = |bar: &Bar| bar.parts.iter().map(|part| part.value).sum::<f64>();
    let largest = bars.iter().map(total).fold(0.0, f64::max);
    if largest <= 0.0 || !largest.is_finite() {
        return None;
    }
    let has_labels = bars.iter().any(|bar| !bar.label.is_empty());
    // Room for the label of the longest bar.
    let end = match (most, has_labels) {
        (Some(most), false) => most,
        (Some(most), true) => 1.4 * most.max(largest),
        (None, _) => 1.35 * largest,
    };
    let count = bars.len();
    let legend_height = LEGEND_ROW * legend.len().div_ceil(LEGEND_COLUMNS) as u32;
    let height = 118 + legend_height + ROW * count as u32;
    let mut svg = String::new();
    draw(&mut svg, (WIDTH, height), |root| {
        root.fill(&PAPER)?;
        let (head, body) = root.split_vertically(36 + legend_height);
        head.draw_text(title, &letters(19), (12, 10))?;
        for (number, name) in legend.iter().enumerate() {
            let x =
                14 + (number % LEGEND_COLUMNS) as i32 * (WIDTH as i32 - 20) / LEGEND_COLUMNS as i32;
            let y = 38 + (number / LEGEND_COLUMNS) as i32 * LEGEND_ROW as i32;
            head.draw(&Rectangle::new(
                [(x, y), (x + 13, y + 13)],
                colour_of(number, legend).filled(),
            ))?;
            head.draw_text(name, &letters(15), (x + 19, y))?;
        }
        let mut chart = ChartBuilder::on(&body)
            .margin_right(16)
            .margin_top(6)
            .margin_bottom(8)
            .x_label_area_size(52)
            .y_label_area_size(NAMES)
            .build_cartesian_2d(0.0..end, -0.5..count as f64 - 0.5)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .disable_y_axis()
            .y_labels(0)
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(letters(15))
            .axis_desc_style(letters(16))
            .x_labels(6)
            .x_label_formatter(&|value| value.to_string())
            .x_desc(axis)
            .draw()?;
        for (number, bar) in bars.iter().enumerate() {
            // The first bar is at the top.
            let y = (count - 1 - number) as f64;
            let mut x = 0.0;
            for part in &bar.parts {
                let fill = colour_of(part.name, legend).filled();
                chart.draw_series([Rectangle::new(
                    [(x, y - 0.36), (x + part.value, y + 0.36)],
                    fill,
                )])?;
                x += part.value;
            }
            let (edge, middle) = chart.backend_coord(&(0.0, y));
            let right = Pos::new(HPos::Right, VPos::Center);
            root.draw_text(&bar.name, &letters(15).pos(right), (edge - 8, middle))?;
            let (tip, _) = chart.backend_coord(&(x, y));
            let left = Pos::new(HPos::Left, VPos::Center);
            root.draw_text(&bar.label, &letters(14).pos(left), (tip + 6, middle))?;
        }
        Ok(())
    })?;
    Some(svg)
}

/// The last entry of a legend stands for the remainder.
fn colour_of(number: usize, legend: &[String]) -> RGBColor {
    match number + 1 == legend.len() {
        true => colour(usize::MAX),
        false => colour(number),
    }
}

/// Errors of plotters. None can happen on strings; a plot with an error is left out.
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws into a string.
pub(super) fn draw<'a>(
    svg: &'a mut String,
    size: (u32, u32),
    paint: impl FnOnce(&DrawingArea<SVGBackend<'a>, plotters::coord::Shift>) -> Drawn,
) -> Option<()> {
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    paint(&root).ok()?;
    root.present().ok()
}
