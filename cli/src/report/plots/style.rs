//! Colours and fonts, and the style sheet that makes a plot follow light and dark.

use plotters::style::{FontDesc, FontFamily, FontStyle, IntoFont as _, RGBColor, TextStyle};

/// The background.
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
/// Text and axes.
pub(super) const INK: RGBColor = RGBColor(17, 17, 17);
/// Grid lines.
pub(super) const GRID: RGBColor = RGBColor(221, 221, 221);

/// Okabe and Ito's colours, which people with any kind of colour vision can tell apart («Color Universal Design»,
/// 2008), without yellow, which is hard to see on white.
pub(super) const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(204, 121, 167),
    RGBColor(102, 102, 102),
];

/// The colour of the part or line with this index; past the end, the colour of the remainder.
pub(super) const fn colour(number: usize) -> RGBColor {
    match number {
        0..7 => PALETTE[number],
        _ => RGBColor(187, 187, 187),
    }
}

/// Text of a size in pixels.
pub(super) fn letters(size: i32) -> TextStyle<'static> {
    let font: FontDesc<'static> =
        (FontFamily::SansSerif, f64::from(size), FontStyle::Normal).into_font();
    TextStyle::from(font).color(&INK)
}

/// How kernels are drawn, and the dark variant: paper, ink and grid change places, and the two darkest colours become
/// lighter.
const STYLE: &str = "<style>\
.series{--c:#8a8a8a}.c0{--c:#0072b2}.c1{--c:#d55e00}.c2{--c:#009e73}.c3{--c:#cc79a7}.c4{--c:#e69f00}.c5{--c:#56b4e9}\
.series polyline{fill:none;stroke:var(--c);stroke-width:2}.rest polyline{stroke-width:1}\
.series .leader{stroke-width:.7;stroke-dasharray:2 2}.series .mark{fill:var(--c);stroke:none}\
.series text{font:11px sans-serif;fill:#111111}\
svg:has(.series:hover,.series.on) .series:not(:hover,.on){opacity:.15}\
.series:hover text,.series.on text{text-decoration:underline}\
@media (prefers-color-scheme: dark) {.c0{--c:#2f78c4}.c5{--c:#a6dcff}.series text{fill:#e8e8e8}}\
@media (prefers-color-scheme: dark) {\
svg [fill=\"#FFFFFF\"]{fill:#15181c}svg [fill=\"#111111\"]{fill:#e8e8e8}svg [stroke=\"#111111\"]{stroke:#e8e8e8}\
svg [stroke=\"#DDDDDD\"]{stroke:#3a3f45}svg [fill=\"#0072B2\"]{fill:#2f78c4}svg [stroke=\"#0072B2\"]{stroke:#2f78c4}\
svg [fill=\"#56B4E9\"]{fill:#a6dcff}svg [stroke=\"#56B4E9\"]{stroke:#a6dcff}\
svg [fill=\"#666666\"]{fill:#9a9a9a}svg [stroke=\"#666666\"]{stroke:#9a9a9a}svg [fill=\"#BBBBBB\"]{fill:#5a5f65}}\
</style>";

/// Makes a plot follow light and dark.
pub(super) fn finish(svg: &str) -> String {
    let svg = svg.trim();
    match svg.find('>') {
        Some(end) => format!("{}{STYLE}{}\n", &svg[..=end], &svg[end + 1..]),
        None => svg.to_owned(),
    }
}
