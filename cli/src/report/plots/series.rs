//! Kernels in a plot: symbols and lines with names at the right edge, each a group that the page can highlight.

use maud::{Markup, html};

/// Kernels with a colour of their own, the fastest ones. The others are grey, because more colours cannot be told
/// apart.
const COLOURED: usize = 6;
/// Pixels from one name to the next.
const NAME_HEIGHT: f64 = 14.0;

/// A kernel's points in pixels, from left to right.
pub(super) struct Series<'a> {
    pub(super) kernel: &'a str,
    pub(super) points: Vec<(i32, i32)>,
    /// A description of the points, for readers who do not see them.
    pub(super) alt: String,
    /// The rate by which the fastest are selected.
    pub(super) rate: f64,
}

/// Where names are placed.
pub(super) struct Names {
    pub(super) x: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
}

/// Places names one above the other, as near as possible to where they are wanted, in the order of `wanted`.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let room = (bottom - top) / wanted.len().saturating_sub(1).max(1) as f64;
    let gap = NAME_HEIGHT.min(room);
    let mut places = vec![0.0; wanted.len()];
    let mut next = top;
    for &name in &order {
        places[name] = wanted[name].max(next);
        next = places[name] + gap;
    }
    let mut last = bottom;
    for &name in order.iter().rev() {
        places[name] = places[name].min(last);
        last = places[name] - gap;
    }
    places
}

/// Draws the series into a plot.
pub(super) fn add(svg: &str, series: &[Series<'_>], names: &Names) -> String {
    let rank = |one: &Series<'_>| series.iter().filter(|other| other.rate > one.rate).count();
    let ends: Vec<f64> = series
        .iter()
        .map(|one| one.points.last().map_or(0.0, |point| f64::from(point.1)))
        .collect();
    let places = spread(&ends, f64::from(names.top), f64::from(names.bottom));
    // The fastest are drawn above the others.
    let mut order: Vec<usize> = (0..series.len()).collect();
    order.sort_by_key(|&number| std::cmp::Reverse(rank(&series[number])));
    let groups = html! {
        @for number in order {
            @let one = &series[number];
            @let colour = match rank(one) { rank if rank < COLOURED => format!("c{rank}"), _ => "rest".into() };
            g class={ "series " (colour) } data-kernel=(one.kernel) {
                title { (one.kernel) ": " (one.alt) }
                (group(one, number, names.x, places[number]))
            }
        }
    };
    match svg.rfind("</svg>") {
        Some(end) => format!("{}{}</svg>", &svg[..end], groups.into_string()),
        None => svg.to_owned(),
    }
}

fn group(one: &Series<'_>, number: usize, x: i32, y: f64) -> Markup {
    let point = |(x, y): &(i32, i32)| format!("{x},{y}");
    let line: Vec<_> = one.points.iter().map(point).collect();
    html! {
        @if line.len() > 1 { polyline points=(line.join(" ")) {} }
        @for &(x, y) in &one.points { path class="mark" d=(symbol(number, x, y)) {} }
        @if let Some(end) = one.points.last() {
            polyline class="leader" points={ (point(end)) " " (x - 4) "," (format!("{y:.1}")) } {}
        }
        text x=(x) y=(format!("{:.1}", y + 4.0)) { (one.kernel) }
    }
}

/// The outline of a symbol.
fn symbol(number: usize, x: i32, y: i32) -> String {
    match number % 5 {
        0 => format!("M{} {y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4),
        1 => format!("M{} {}h8v8h-8z", x - 4, y - 4),
        2 => format!("M{x} {}l5 9h-10z", y - 6),
        3 => format!("M{x} {}l6 6l-6 6l-6 -6z", y - 6),
        _ => format!("M{x} {}l5 -9h-10z", y + 6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_overlap_and_stay_inside() {
        let wanted: Vec<f64> = [100.0, 101.0, 20.0, 399.0, 400.0, 100.5].into();
        let places = spread(&wanted, 10.0, 400.0);
        let mut sorted = places.clone();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|two| two[1] - two[0] >= NAME_HEIGHT));
        assert!(sorted[0] >= 10.0 && sorted[5] <= 400.0, "{sorted:?}");
        // A name with enough room stays in place, and the order is that of the points.
        assert_eq!(places[2], 20.0);
        assert!(places[0] < places[5] && places[5] < places[1] && places[3] < places[4]);
        // If there is not enough room, the names share it.
        let many = spread(&[5.0; 40], 0.0, 390.0);
        assert!(many.iter().all(|place| (0.0..=390.0).contains(place)));
    }

    #[test]
    fn all_kernels_are_there_and_only_the_fastest_have_colours() {
        let names: Vec<String> = (0..19).map(|n| format!("k{n}")).collect();
        let series: Vec<_> = (names.iter().zip(1..))
            .map(|(kernel, n)| Series {
                kernel,
                points: vec![(10, n), (20, n)],
                alt: "a & b".into(),
                rate: f64::from(n),
            })
            .collect();
        let edge = Names {
            x: 300,
            top: 10,
            bottom: 400,
        };
        let svg = add("<svg></svg>", &series, &edge);
        assert_eq!(svg.matches("<g class=\"series").count(), 19);
        assert_eq!(svg.matches("series rest").count(), 19 - COLOURED);
        assert_eq!(
            svg.matches("class=\"series c0\" data-kernel=\"k18\"")
                .count(),
            1
        );
        assert!(svg.contains("a &amp; b") && svg.ends_with("</g></svg>"));
        // Every element is closed.
        for element in ["g", "title", "polyline", "path", "text"] {
            let ends = svg.matches(&format!("</{element}>")).count();
            let begins = [" ", ">"].map(|next| svg.matches(&format!("<{element}{next}")).count());
            assert_eq!(ends, begins[0] + begins[1], "{element}");
        }
    }
}
